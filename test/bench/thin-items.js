// Small uniform items of 0.7 KB. Every third one has an ERC-20 transfer and every tenth an internal transaction, so
// that all tables except those of NFTs get rows.

const hash = (n) => `0x${n.toString(16).padStart(64, '0')}`
const PEER = '0x00000000000000000000000000000000000000aa'
const TOKEN = '0x00000000000000000000000000000000000000bb'

export function thinItem({ wallet, n, block, index }) {
  const out = n % 2 === 0
  const from = out ? wallet : PEER
  const to = out ? PEER : wallet
  const native = `{"blockNumber":"${block}","blockTimestamp":${1_600_000_000 + block},"blockHash":"${hash(block)}","chainId":"43114","blockIndex":${index},"txHash":"${wallet}${n.toString(16).padStart(24, '0')}","txStatus":"1","txType":2,"gasLimit":"90000","gasUsed":"21000","gasPrice":"26000000000","nonce":"${n}","from":{"address":"${from}"},"to":{"address":"${to}"},"method":{"callType":"CONTRACT_CALL","methodHash":"0xa9059cbb","methodName":"transfer(address,uint256)"},"value":"${n}000000000"}`
  const erc20 =
    n % 3 === 0
      ? `{"from":{"address":"${from}"},"to":{"address":"${to}"},"logIndex":1,"value":"${n}000000","erc20Token":{"address":"${TOKEN}","name":"USD Coin","symbol":"USDC","decimals":6,"ercType":"ERC-20"}}`
      : ''
  const internal =
    n % 10 === 0
      ? `{"from":{"address":"${PEER}"},"to":{"address":"${wallet}"},"internalTxType":"CALL","value":"${n}","isReverted":false,"gasUsed":"0","gasLimit":"2300"}`
      : ''
  return `{"nativeTransaction":${native},"erc20Transfers":[${erc20}],"erc721Transfers":[],"erc1155Transfers":[],"internalTransactions":[${internal}]}`
}
