// A loopback service with as many transactions as asked for: item n of a wallet is in block n, made from a template.
// Usage: node synthetic-service.js <transactions per wallet>; prints its base URL. Every third item has an ERC-20
// transfer, every tenth an internal transaction, so that all tables but the NFTs' fill up.
import { createServer } from 'node:http'

const total = Number(process.argv[2] ?? 100_000)
const PAGE = 100
const hash = (n) => `0x${n.toString(16).padStart(64, '0')}`
const PEER = '0x00000000000000000000000000000000000000aa'
const TOKEN = '0x00000000000000000000000000000000000000bb'

function item(wallet, n) {
  const out = n % 2 === 0
  const from = out ? wallet : PEER
  const to = out ? PEER : wallet
  const native = `{"blockNumber":"${n}","blockTimestamp":${1_600_000_000 + n},"blockHash":"${hash(n)}","chainId":"43114","blockIndex":0,"txHash":"${wallet}${n.toString(16).padStart(24, '0')}","txStatus":"1","txType":2,"gasLimit":"90000","gasUsed":"21000","gasPrice":"26000000000","nonce":"${n}","from":{"address":"${from}"},"to":{"address":"${to}"},"method":{"callType":"CONTRACT_CALL","methodHash":"0xa9059cbb","methodName":"transfer(address,uint256)"},"value":"${n}000000000"}`
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

function page(url) {
  const { pathname, searchParams: query } = new URL(url, 'http://localhost')
  const wallet = pathname.split('/')[5].toLowerCase()
  const from = Math.min(total, Number(query.get('startBlock')))
  const to = Math.min(total, Number(query.get('endBlock')))
  const offset = Number(query.get('pageToken') ?? 0)
  const desc = query.get('sortOrder') === 'desc'
  const items = []
  for (let at = offset; at < Math.min(offset + PAGE, to - from); at += 1)
    items.push(item(wallet, desc ? to - 1 - at : from + at))
  const next = offset + PAGE < to - from ? `"nextPageToken":"${offset + PAGE}",` : ''
  return `{${next}"transactions":[${items.join(',')}]}`
}

const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(page(request.url))
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
