import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { pricesNeeded } from '../../../src/accounting/needed.ts'
import { type FetchPricesOptions, fetchPrices } from '../../../src/accounting/price-list/fetch-prices.ts'
import { type PriceLine, priceFileText } from '../../../src/accounting/price-list/price-file.ts'
import { statement } from '../../../src/accounting/statement/statement.ts'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import type { JsonObject } from '../../../src/demo-server/json.ts'
import { balances } from '../../../src/ledger/balances/balances.ts'
import { parseCsv } from '../../../src/read/csv-records.ts'
import { runCommand } from '../../helpers/command.ts'
import { faultWhere, respondWith } from '../../helpers/faults.ts'
import { type Fault, startLoopback } from '../../helpers/loopback.ts'
import { readManifest } from '../../helpers/read-output.ts'
import { serve } from '../../helpers/serve.ts'
import { suiteFolder, tempFile, tempFolder } from '../../helpers/temp-folder.ts'
import { GOLDEN_CHAIN } from '../golden-chain.ts'
import { exportMadeUp } from '../made-up-export.ts'
import { zipOf } from './serve-answers.ts'

const USDC = '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e'
const WAVAX = '0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7'
/** The golden chain with genuine contracts: a stablecoin, and the wrapped coin. */
const CHAIN: JsonObject[] = JSON.parse(
  JSON.stringify(GOLDEN_CHAIN)
    .replaceAll(`0x${'c'.repeat(40)}`, USDC)
    .replaceAll(`0x${'d'.repeat(40)}`, WAVAX),
)
const service = createDataService({ chains: { 43114: CHAIN } })
const output = join(suiteFolder(), 'out')
const DAY_OF_COIN = '2024-03-01'
const DAY_WITHOUT_COIN = '2024-01-01'

beforeAll(() => exportMadeUp(output, CHAIN, '43114'))

async function fetch({ fault, ...options }: Partial<FetchPricesOptions> & { fault?: Fault } = {}) {
  const { url, requests } = await startLoopback(service, fault)
  const access = { baseUrl: url, concurrency: 1, retry: { retries: 0 }, ...options.service }
  const fetched = await fetchPrices(output, { currency: 'usd', ...options, service: access })
  return { ...fetched, requests, hashes: requests.map(({ path }) => path.split('/').at(-1)) }
}

function writeFile(text: string): string {
  return tempFile('prices.csv', text)
}

const coinDays = async () => (await pricesNeeded(output)).filter(({ asset }) => asset === 'native')

test('requests one transaction per day, and writes the price that its details state', async () => {
  const { lines, requests, hashes, counts } = await fetch()
  const coins = lines.filter(({ asset }) => asset === 'native')
  expect(coins.map(({ date }) => date)).toEqual((await coinDays()).map(({ date }) => date))
  expect(coins.map(({ transaction }) => transaction)).toEqual(hashes)
  expect(requests).toHaveLength(counts.requests)
  for (const { date, price, currency, transaction, time } of coins) {
    const url = `/v1/chains/43114/transactions/${transaction}`
    const { body } = await service.handle({ method: 'GET', url, headers: {} })
    const { nativeTransaction, networkTokenDetails } = JSON.parse(body)
    expect([currency, price]).toEqual(['USD', String(networkTokenDetails.historicalPrice.value)])
    expect(time).toBe(new Date(nativeTransaction.blockTimestamp * 1_000).toISOString())
    expect(time?.slice(0, 10)).toBe(date)
  }
})

test('lists tokens without a price unless pegs are assumed', async () => {
  const { lines } = await fetch()
  const tokens = lines.filter(({ asset }) => asset !== 'native')
  expect(tokens.map(({ price }) => price)).toEqual(tokens.map(() => undefined))
  expect(tokens.map(({ asset }) => asset)).toContain(USDC)
})

test('prices stablecoins at 1 and wrapped coins as the coin if pegs are assumed', async () => {
  const { lines, missing } = await fetch({ assumePegs: true })
  const pricesOf = (contract: string) => lines.filter(({ asset }) => asset === contract)
  expect(pricesOf(USDC).length).toBeGreaterThan(2)
  for (const line of pricesOf(USDC)) expect(line).toMatchObject({ price: '1', source: 'assumed peg' })
  expect(pricesOf(WAVAX).length).toBeGreaterThan(2)
  for (const { date, price } of pricesOf(WAVAX))
    expect(price).toBe(lines.find((line) => line.asset === 'native' && line.date === date)?.price)
  expect(missing.map(({ symbol }) => symbol)).toContain('vUSDC')
  expect(missing.filter(({ asset }) => [USDC, WAVAX, 'native'].includes(asset))).toEqual([])
})

test('prices a contract that the job names as a wrapped coin as the coin', async () => {
  const unknown = (await fetch({ assumePegs: true })).missing.find(({ symbol }) => symbol === 'vUSDC')
  const copy = join(tempFolder(), 'out')
  cpSync(output, copy, { recursive: true })
  const manifest = readManifest(copy)
  manifest.job.wrappedCoins = [unknown?.asset ?? '']
  writeFileSync(join(copy, 'manifest.json'), JSON.stringify(manifest))
  const { url } = await startLoopback(service)
  const access = { baseUrl: url, concurrency: 1 }
  const { lines } = await fetchPrices(copy, { currency: 'usd', assumePegs: true, service: access })
  const priced = lines.filter(({ asset, price }) => asset === unknown?.asset && price !== undefined)
  expect(priced.length).toBeGreaterThan(0)
  for (const { source } of priced) expect(source).toBe('price of the coin')
})

test('leaves the prices of the coin to fill in if the API of the service reports none', async () => {
  const notices: string[] = []
  const explorer = {
    baseUrl: 'demo',
    api: 'etherscan',
    onNotice: (one: string) => notices.push(one),
  } as const
  const { lines, added, error, requests } = await fetch({ assumePegs: true, service: explorer })
  expect([requests, error]).toEqual([[], undefined])
  expect(notices).toEqual(['the API etherscan states no prices: those of the coin are left to fill in'])
  const coins = lines.filter(({ asset }) => asset === 'native')
  expect(coins.map(({ date }) => date)).toEqual(
    expect.arrayContaining((await coinDays()).map(({ date }) => date)),
  )
  expect(coins.map(({ price }) => price)).toEqual(coins.map(() => undefined))
  expect(added).toBe(lines.filter(({ source }) => source === 'assumed peg').length)
})

test('requests nothing for prices that the file has, and keeps all of its lines', async () => {
  const { lines } = await fetch()
  const own = {
    date: '2019-05-05',
    chain: '43114',
    asset: 'native',
    currency: 'USD',
    price: '7',
    note: 'from my bank',
  }
  const file = writeFile(priceFileText([own, ...lines]))
  const again = await fetch({ prices: file })
  expect({ added: again.added, requests: again.requests }).toEqual({ added: 0, requests: [] })
  expect(priceFileText(again.lines)).toBe(readFileSync(file, 'utf8'))
})

test('completes a file of several chains: keeps the lines of others, and names the chain of its own', async () => {
  const [day] = await coinDays()
  const file = writeFile(
    ['chain,date,asset,currency,price', `,${day?.date},native,USD,7`, '1,2019-05-05,native,,', ''].join('\n'),
  )
  const { lines, added, missing } = await fetch({ prices: file })
  expect(added).toBe((await coinDays()).length - 1)
  expect(lines).toContainEqual(expect.objectContaining({ chain: '43114', date: day?.date, price: '7' }))
  expect(lines).toContainEqual(expect.objectContaining({ chain: '1', date: '2019-05-05', price: '' }))
  expect(new Set(missing.map(({ chain }) => chain))).toEqual(new Set(['43114']))
  const again = await fetch({ prices: writeFile(priceFileText(lines)) })
  expect({ added: again.added, requests: again.requests }).toEqual({ added: 0, requests: [] })
  expect(priceFileText(again.lines)).toBe(priceFileText(lines))
})

test('adds prices to a template that contains none', async () => {
  const [day] = await coinDays()
  const file = writeFile(`date,asset,currency,price\n${day?.date},native,,\n`)
  const { lines, added } = await fetch({ prices: file })
  expect(added).toBe((await coinDays()).length)
  expect(lines.filter(({ asset, date }) => asset === 'native' && date === day?.date)).toHaveLength(1)
})

test('derives the price of a wrapped coin from that of the coin in the file', async () => {
  const file = writeFile(`date,asset,currency,price\n2024-02-29,native,USD,3\n`)
  const options = { prices: file, assumePegs: true, from: '2024-02-29', until: '2024-02-29' }
  const { lines, requests } = await fetch(options)
  expect(requests).toEqual([])
  expect(lines.find(({ asset }) => asset === WAVAX)).toMatchObject({
    price: '3',
    source: 'price of the coin',
  })
})

test.for([
  { what: 'has no transaction', response: respondWith(404, '{}') },
  { what: 'states no price', response: respondWith(200, '{"nativeTransaction":{}}') },
  { what: 'states the price 0', response: respondWith(200, statedPrice(0)) },
  { what: 'states a price that is no number', response: respondWith(200, statedPrice('free')) },
])('leaves a day empty for which the service $what', async ({ response }) => {
  let requested = 0
  const first = () => requested++ === 0
  const { missing, error, lines } = await fetch({ fault: faultWhere(first, response) })
  const [day] = await coinDays()
  expect(error).toBeUndefined()
  expect(missing.filter(({ asset }) => asset === 'native')).toEqual([day])
  expect(lines.filter(({ asset, price }) => asset === 'native' && price)).toHaveLength(
    (await coinDays()).length - 1,
  )
})

function statedPrice(value: unknown, currencyCode = 'usd'): string {
  return JSON.stringify({
    nativeTransaction: {},
    networkTokenDetails: { historicalPrice: { currencyCode, value } },
  })
}

test('writes prices with an exponent as plain digits', async () => {
  const fault = faultWhere(() => true, respondWith(200, statedPrice(1.5e-7)))
  const { lines } = await fetch({ fault, from: DAY_OF_COIN, until: DAY_OF_COIN })
  expect(lines.find(({ asset }) => asset === 'native')?.price).toBe('0.00000015')
})

test('ends with what it has when the service fails, and continues after that', async () => {
  const fault: Fault = ({ count }) =>
    count <= 2 ? undefined : (response) => void response.writeHead(503).end()
  const { lines, added, error, requests } = await fetch({ fault })
  expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  expect({ added, requests: requests.length }).toEqual({ added: 2, requests: 3 })
  const rest = await fetch({ prices: writeFile(priceFileText(lines)) })
  expect(rest.requests).toHaveLength((await coinDays()).length - 2)
  expect(rest.lines).toHaveLength(lines.length)
})

test('converts prices that the service reports in another currency', async () => {
  const rates = zipOf('eurofxref-hist.csv', 'Date,USD,\n2024-03-01,1.25,\n')
  const url = await serve((_, response) => void response.end(rates))
  const env = { WALLETLAKE_ECB_URL: url }
  const { lines } = await fetch({ currency: 'eur', from: DAY_OF_COIN, until: DAY_OF_COIN, env })
  const { lines: inDollars } = await fetch({ from: DAY_OF_COIN, until: DAY_OF_COIN })
  const priceIn = (all: PriceLine[]) =>
    all.find(({ asset, date }) => asset === 'native' && date === DAY_OF_COIN)
  expect(priceIn(lines)?.currency).toBe('EUR')
  expect(Number(priceIn(lines)?.price) * 1.25).toBeCloseTo(Number(priceIn(inDollars)?.price), 10)
})

test('rejects a file with prices in another currency', async () => {
  const file = writeFile('date,asset,currency,price\n2024-02-29,native,USD,3\n')
  await expect(fetch({ currency: 'eur', prices: file })).rejects.toMatchObject({
    code: 'USAGE',
    fix: 'Use --currency usd, or name another file with --out.',
  })
})

test('requests no price for a day on which only tokens moved', async () => {
  const { lines } = await fetch()
  const assets = lines.filter(({ date }) => date === DAY_WITHOUT_COIN).map(({ asset }) => asset)
  expect(assets).toEqual([USDC])
})

test.for([
  { from: DAY_WITHOUT_COIN, until: DAY_WITHOUT_COIN },
  { from: '2024-02-01', until: '2024-12-31' },
])('lists all prices that a statement from $from to $until needs', async (period) => {
  const { lines } = await fetch(period)
  const { pricesNeeded: needed } = await statement([output], { ...period, collectsNeeded: true })
  expect(needed.length).toBeGreaterThan(2)
  const listed = lines.map(({ date, asset }) => `${date} ${asset}`)
  expect(listed).toEqual(expect.arrayContaining(needed.map(({ date, asset }) => `${date} ${asset}`)))
  const coins = lines.filter(({ asset }) => asset === 'native')
  expect(new Set(coins.map(({ symbol }) => symbol))).toEqual(new Set(['AVAX']))
})

test('lists what is held at the last movement, which a report needs', async () => {
  const { lines } = await fetch()
  const { balances: held, newest } = await balances(output)
  const tokens = held.filter(({ asset_type, asset_decimals }) => asset_type === 'erc20' && asset_decimals)
  expect(tokens.length).toBeGreaterThan(0)
  const listed = lines.filter(({ date }) => date === newest?.time.slice(0, 10)).map(({ asset }) => asset)
  expect(listed).toEqual(expect.arrayContaining(tokens.map(({ asset_address }) => asset_address)))
})

test('leaves out spam tokens on request', async () => {
  const symbols = (needed: { symbol: string }[]) => needed.map(({ symbol }) => symbol)
  const all = symbols(await pricesNeeded(output))
  const genuine = symbols(await pricesNeeded(output, { excludeSpam: true }))
  expect(all).toContain('USD\u0422')
  expect(genuine).toEqual(all.filter((symbol) => symbol !== 'USD\u0422'))
  expect(symbols((await fetch({ excludeSpam: true })).missing)).not.toContain('USD\u0422')
})

test('the command completes a file that convert reads, and says what it requested', async () => {
  const { url } = await startLoopback(service)
  const out = join(tempFolder(), 'prices.csv')
  const prices = ['prices', output, '--base-url', url, '--tier', 'free', '--concurrency', '1', '--out', out]
  const stopped = await runCommand([...prices, '--max-requests', '2'])
  expect(stopped.exit).toBe(9)
  expect(stopped.stderr).toContain(`2 prices added in ${out}: 2 requests (40 compute units)`)
  const { exit, stderr, stdout } = await runCommand(prices)
  const days = (await coinDays()).length
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: '' })
  expect(stderr).toContain(`requesting the prices of ${days - 2} days (${(days - 2) * 20} compute units)`)
  expect(stderr).toMatch(/\d+ prices of \d+ assets not found, to fill in:/)
  const priced = parseCsv(readFileSync(out, 'utf8')).filter(([, , , , price]) => price)
  expect(priced).toHaveLength(1 + days)
  const needed = await pricesNeeded(output, { prices: out })
  expect(needed.filter(({ asset }) => asset === 'native')).toEqual([])
})

test('the command refuses a currency that is no code', async () => {
  const { exit, stderr } = await runCommand(['prices', output, '--currency', '$'])
  expect(exit).toBe(2)
  expect(stderr).toContain('a code such as usd')
})
