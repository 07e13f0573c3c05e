// A loopback service with wallets of one transaction each and their balances. Prints its base URL.
// Usage: node balances-service.js '<JSON>' with
//   tokens: number of ERC-20 tokens that every wallet has received
//   delayMs: [min, max] delay of each response
// The transaction of the n-th wallet is in block n + 1. GET /stats returns { requests, balanceRequests }.
import { createServer } from 'node:http'

const { tokens, delayMs } = JSON.parse(process.argv[2])
const PEER = '0x00000000000000000000000000000000000000aa'
const COINS = 10n ** 18n

const hash = (n) => `0x${n.toString(16).padStart(64, '0')}`
const contractOf = (token) => `0x${(0xc000_0000 + token).toString(16).padStart(40, '0')}`
const tokenOf = (token) => ({
  address: contractOf(token),
  name: `Token ${token}`,
  symbol: `T${token}`,
  decimals: 18,
  ercType: 'ERC-20',
})
const amountOf = (wallet, token) => String(BigInt(numberOf(wallet) + 1) * 1_000n + BigInt(token))
/** Number of a wallet of `walletsOf` (with-service.js). */
const numberOf = (wallet) => Number.parseInt(wallet.slice(-8), 16) - 4096
const blockOf = (wallet) => numberOf(wallet) + 1
const all = Array.from({ length: tokens }, (_, token) => token)

function itemOf(wallet) {
  const block = blockOf(wallet)
  const parties = { from: { address: PEER }, to: { address: wallet } }
  return {
    nativeTransaction: {
      blockNumber: String(block),
      blockTimestamp: 1_600_000_000 + block,
      blockHash: hash(block),
      chainId: '43114',
      blockIndex: 0,
      txHash: hash(block),
      txStatus: '1',
      txType: 0,
      gasLimit: '90000',
      gasUsed: '21000',
      gasPrice: '26000000000',
      nonce: '0',
      value: String(COINS),
      ...parties,
    },
    erc20Transfers: all.map((token) => ({
      ...parties,
      logIndex: token,
      value: amountOf(wallet, token),
      erc20Token: tokenOf(token),
    })),
  }
}

function listingOf(wallet, query) {
  const block = blockOf(wallet)
  const isInRange =
    Number(query.get('startBlock') ?? 0) <= block && block < Number(query.get('endBlock') ?? Infinity)
  return { transactions: isInRange ? [itemOf(wallet)] : [] }
}

function balancesOf(operation, wallet, query) {
  const exists = blockOf(wallet) <= Number(query.get('blockNumber') ?? Infinity)
  if (operation === 'balances:getNative') {
    const balance = exists ? String(COINS) : '0'
    return {
      nativeTokenBalance: { chainId: '43114', name: 'Avalanche', symbol: 'AVAX', decimals: 18, balance },
    }
  }
  const wanted = query.get('contractAddresses')?.toLowerCase().split(',')
  const held = exists ? all.filter((token) => wanted?.includes(contractOf(token)) !== false) : []
  return {
    erc20TokenBalances: held.map((token) => ({
      ...tokenOf(token),
      chainId: '43114',
      balance: amountOf(wallet, token),
    })),
  }
}

const stats = { requests: 0, balanceRequests: 0 }

function answer(url) {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  if (pathname === '/stats') return stats
  const [, , , , , wallet, operation] = pathname.split('/')
  const isBalance = operation.startsWith('balances:')
  stats.requests += 1
  stats.balanceRequests += isBalance ? 1 : 0
  const address = wallet.toLowerCase()
  return isBalance ? balancesOf(operation, address, searchParams) : listingOf(address, searchParams)
}

const server = createServer((request, response) => {
  const [min, max] = request.url === '/stats' ? [0, 0] : delayMs
  setTimeout(
    () => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answer(request.url)))
    },
    min + Math.random() * (max - min),
  )
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
