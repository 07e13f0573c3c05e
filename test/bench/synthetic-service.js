// A loopback service with synthetic transactions. Prints its base URL.
// Usage: node synthetic-service.js '<JSON>' with
//   dataset: 'dense' (dense-items.js) or 'thin' (thin-items.js)
//   transactions: number of transactions per wallet; with `spread` (number of wallets), it grows evenly from 1 for the
//     first wallet to `transactions` for the last one; with `skew`, the n-th wallet has `transactions / n`
//   bursty: true to put most items into a few short block ranges; otherwise item n is in block n
//   delayMs: [min, max] delay of each response
// GET /stats returns { requests, maxInFlight } (maxInFlight: maximum number of concurrent requests).
import { createServer } from 'node:http'
import { denseItem, OWN_WALLETS } from './dense-items.js'
import { thinItem } from './thin-items.js'

const { dataset, transactions, spread, skew, bursty = false, delayMs = [0, 0] } = JSON.parse(process.argv[2])
const PAGE = 100
const makeItem = { dense: denseItem, thin: thinItem }[dataset]

function random(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
const nextRandom = random(7)

/** The block of each item, in ascending order. */
function blocksOf(total) {
  if (!bursty) return Float64Array.from({ length: total }, (_, n) => n)
  const weights = Array.from({ length: 60 }, () => 1 / (0.02 + nextRandom()) ** 2)
  const sum = weights.reduce((a, b) => a + b)
  const blocks = new Float64Array(total)
  let [n, passed] = [0, 0]
  weights.forEach((weight, at) => {
    passed += weight
    const until = Math.min(total, Math.round((passed / sum) * total))
    const first = n
    for (; n < until; n += 1) blocks[n] = Math.floor(((at + (n - first) / (until - first)) / 60) * total * 10)
  })
  return blocks
}

const histories = new Map()

function historyOf(wallet) {
  const number = Number.parseInt(wallet.slice(-8), 16) - 4096
  return historyWith(OWN_WALLETS.includes(wallet) ? 0 : totalOf(number))
}

function historyWith(total) {
  if (!histories.has(total)) histories.set(total, blocksOf(total))
  return histories.get(total)
}

function totalOf(number) {
  if (skew) return Math.ceil(transactions / (number + 1))
  return spread === undefined ? transactions : Math.max(1, Math.round((transactions * number) / (spread - 1)))
}

function item(wallet, n, blocks) {
  const block = blocks[n]
  let index = 0
  while (blocks[n - index - 1] === block) index += 1
  return makeItem({ wallet, n, block, index })
}

/** Index of the first item whose block is not before `block`. */
function lowerBound(blocks, block) {
  let [low, high] = [0, blocks.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (blocks[middle] < block) low = middle + 1
    else high = middle
  }
  return low
}

/** Placeholder for the digits in which wallets differ, in cached items that serve all wallets. No item contains it. */
const ANY_DIGIT = '\x01'
const ANY_WALLET = `0x${'0'.repeat(32)}${ANY_DIGIT.repeat(8)}`

const MAX_CACHED_ITEMS = 150_000
/**
 * The positions of bursts depend on the number of items of a wallet, so wallets of different sizes cannot share a
 * cache.
 */
const isCached = transactions <= MAX_CACHED_ITEMS && (!bursty || (spread === undefined && !skew))
/**
 * All items as text, generated once, so that responses cost little CPU time: a real API does not run on the machine that is
 * measured.
 */
const cachedItems = isCached ? textsOf(historyWith(transactions)) : undefined

function textsOf(blocks) {
  const items = Array.from(blocks, (_, n) => Buffer.from(`${item(ANY_WALLET, n, blocks)},`))
  const offsets = new Float64Array(items.length + 1)
  for (const [n, { length }] of items.entries()) offsets[n + 1] = offsets[n] + length
  return { offsets, bytes: Buffer.concat(items) }
}

/** Items of a wallet by number, separated by commas. */
function itemsFromCache(wallet, numbers) {
  const { offsets, bytes } = cachedItems
  const items = Buffer.concat(numbers.map((n) => bytes.subarray(offsets[n], offsets[n + 1])))
  const digits = Buffer.from(wallet.slice(-8))
  for (let at = items.indexOf(ANY_DIGIT); at >= 0; at = items.indexOf(ANY_DIGIT, at))
    at += digits.copy(items, at)
  return items.subarray(0, -1)
}

function page(url) {
  const { pathname, searchParams: query } = new URL(url, 'http://localhost')
  const wallet = pathname.split('/')[5].toLowerCase()
  const blocks = historyOf(wallet)
  const from = lowerBound(blocks, Number(query.get('startBlock')))
  const to = lowerBound(blocks, Number(query.get('endBlock')))
  const offset = Number(query.get('pageToken') ?? 0)
  const count = Math.max(0, Math.min(PAGE, to - from - offset))
  const next = offset + PAGE < to - from ? `"nextPageToken":"${offset + PAGE}",` : ''
  const isDescending = query.get('sortOrder') === 'desc'
  const numbers = Array.from({ length: count }, (_, at) =>
    isDescending ? to - 1 - offset - at : from + offset + at,
  )
  const items = isCached
    ? itemsFromCache(wallet, numbers)
    : Buffer.from(numbers.map((n) => item(wallet, n, blocks)).join(','))
  return Buffer.concat([Buffer.from(`{${next}"transactions":[`), items, Buffer.from(']}')])
}

const stats = { requests: 0, maxInFlight: 0 }
let inFlight = 0

const server = createServer((request, response) => {
  if (request.url === '/stats') return response.end(JSON.stringify(stats))
  // It has no details of transactions.
  if (/\/transactions\/0x/.test(request.url)) return response.writeHead(404).end('{}')
  // All blocks count as indexed.
  if (request.url.includes('/blocks/')) return response.end('{"transactions":[]}')
  inFlight += 1
  stats.requests += 1
  stats.maxInFlight = Math.max(stats.maxInFlight, inFlight)
  const [minDelayMs, maxDelayMs] = delayMs
  const respond = () => {
    inFlight -= 1
    response.setHeader('content-type', 'application/json')
    response.end(page(request.url))
  }
  if (maxDelayMs === 0) respond()
  else setTimeout(respond, minDelayMs + nextRandom() * (maxDelayMs - minDelayMs))
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
