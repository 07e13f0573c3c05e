// A loopback explorer with the API of Etherscan and one busy wallet. Prints its base URL.
// Usage: node explorer-service.js <transactions>
// Transaction n is in block floor(n / 3). Records have the fields and sizes of real ones: 2.5 a transaction, 0.7 KB each.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'

const transactions = Number(process.argv[2])
const PER_BLOCK = 3

const hexOf = (text) => createHash('sha256').update(text).digest('hex')
const addressOf = (name) => `0x${hexOf(name).slice(0, 40)}`
const partyOf = (n) => addressOf(`party ${n % 400}`)

function recordsOf(wallet) {
  const records = { txlist: [], txlistinternal: [], tokentx: [], tokennfttx: [], token1155tx: [] }
  for (let n = 0; n < transactions; n += 1) {
    const block = Math.floor(n / PER_BLOCK)
    const [from, to] = n % 3 === 0 ? [partyOf(n), wallet] : [wallet, partyOf(n)]
    const place = { blockNumber: String(block), timeStamp: String(1_600_000_000 + 2 * block) }
    const id = { ...place, hash: `0x${hexOf(`transaction ${n}`)}` }
    const position = {
      nonce: String(n),
      blockHash: `0x${hexOf(`block ${block}`)}`,
      transactionIndex: String(n % PER_BLOCK),
    }
    const gas = {
      gas: '250000',
      gasPrice: String(25_000_000_000 + n),
      gasUsed: String(21_000 + (n % 90_000)),
    }
    const end = { cumulativeGasUsed: String(8_000_000 + n), confirmations: String(transactions - block) }
    const method = { methodId: '0xa9059cbb', functionName: 'transfer(address _to, uint256 _value)' }
    const input = `0xa9059cbb${hexOf(`input ${n}`)}${hexOf(`more ${n}`)}`
    const value = String((n % 7) * 1_000_000_007)
    const own = {
      from,
      to,
      value,
      input,
      contractAddress: '',
      isError: n % 40 === 0 ? '1' : '0',
      txreceipt_status: n % 40 === 0 ? '0' : '1',
    }
    const add = (action, at, record) => records[action].push({ block, json: JSON.stringify(record), at })
    add('txlist', block, { ...id, ...position, ...gas, ...own, ...end, ...method })
    const token = {
      contractAddress: addressOf(`token ${n % 90}`),
      tokenName: `Token 代幣 ${n % 90}`,
      tokenSymbol: `T${n % 90}`,
    }
    const log = { ...id, ...position, from, to, ...token, ...gas, input: 'deprecated', ...end, ...method }
    if (n % 10 < 8) add('tokentx', block, { ...log, value: `${n}000000000000000`, tokenDecimal: '18' })
    if (n % 10 === 8) add('tokennfttx', block, { ...log, tokenID: String(n), tokenDecimal: '0' })
    if (n % 10 === 9) add('token1155tx', block, { ...log, tokenID: String(n), tokenValue: '3' })
    if (n % 2 === 0)
      add('txlistinternal', block, {
        ...id,
        from: partyOf(n + 1),
        to: wallet,
        value: '1000000007',
        contractAddress: '',
        input: '',
        type: 'call',
        gas: '2300',
        gasUsed: '0',
        traceId: '0_1',
        isError: '0',
        errCode: '',
      })
  }
  return records
}

const histories = new Map()

function answer(query) {
  const action = query.get('action')
  if (action === 'eth_blockNumber')
    return `{"jsonrpc":"2.0","id":1,"result":"0x${transactions.toString(16)}"}`
  if (action === 'getblocknobytime') return `{"status":"1","message":"OK","result":"${transactions}"}`
  const wallet = query.get('address')
  if (!histories.has(wallet)) histories.set(wallet, recordsOf(wallet))
  const [from, to] = [Number(query.get('startblock') ?? 0), Number(query.get('endblock') ?? Infinity)]
  const inRange = histories.get(wallet)[action].filter(({ block }) => block >= from && block <= to)
  if (query.get('sort') === 'desc') inRange.reverse()
  const offset = Math.min(10_000, Number(query.get('offset') ?? 10_000))
  const first = (Number(query.get('page') ?? 1) - 1) * offset
  const listed = inRange.slice(first, first + offset)
  if (listed.length === 0) return '{"status":"0","message":"No transactions found","result":[]}'
  return `{"status":"1","message":"OK","result":[${listed.map(({ json }) => json).join(',')}]}`
}

const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(answer(new URL(request.url, 'http://localhost').searchParams))
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/v2/api`))
