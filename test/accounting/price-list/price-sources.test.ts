import { existsSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { type FetchPricesOptions, fetchPrices } from '../../../src/accounting/price-list/fetch-prices.ts'
import { type PriceLine, priceFileText } from '../../../src/accounting/price-list/price-file.ts'
import type { JsonObject } from '../../../src/demo-server/json.ts'
import { runCommand } from '../../helpers/command.ts'
import { suiteFolder, tempFile, tempFolder } from '../../helpers/temp-folder.ts'
import { GOLDEN_CHAIN } from '../golden-chain.ts'
import { exportMadeUp } from '../made-up-export.ts'
import { type Answer, llamaAnswer, serveAnswers, zipOf } from './serve-answers.ts'

const USDC = '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e'
const WETH = '0x49d5c2bdffac6ce2bfdb6640f4f80f226bc10bab'
const CHAIN: JsonObject[] = JSON.parse(
  JSON.stringify(GOLDEN_CHAIN)
    .replaceAll(`0x${'c'.repeat(40)}`, USDC)
    .replaceAll(`0x${'d'.repeat(40)}`, WETH),
)
const output = join(suiteFolder(), 'out')
const DAY = '2024-02-29'

beforeAll(() => exportMadeUp(output, CHAIN, '43114'))

/** One record an hour before each time, for all coins except `unknown`. */
const llama = (unknown: readonly string[] = [], confidence = 0.99): Answer =>
  llamaAnswer((coin, seconds) =>
    unknown.includes(coin) ? undefined : { timestamp: seconds - 3_600, price: priceOf(coin), confidence },
  )

const priceOf = (coin: string) =>
  coin === 'coingecko:avalanche-2' ? 36.5 : coin.endsWith(USDC) ? 0.999436 : 3_412.07

const OPTIONS = { currency: 'usd', service: { baseUrl: undefined, retry: { retries: 0 } } }

async function fetch(options: Partial<FetchPricesOptions>) {
  const fetched = await fetchPrices(output, { ...OPTIONS, from: DAY, until: DAY, ...options })
  const lineOf = (asset: string, date = DAY) =>
    fetched.lines.find((line) => line.asset === asset && line.date === date)
  return { ...fetched, lineOf }
}

async function fromLlama(answer: Answer, options: Partial<FetchPricesOptions> = {}) {
  const { url, requests } = await serveAnswers(answer)
  const env = { WALLETLAKE_DEFILLAMA_URL: url, ...options.env }
  return { ...(await fetch({ sources: ['defillama'], ...options, env })), requests }
}

function writeLines(lines: readonly PriceLine[]): string {
  return tempFile('prices.csv', priceFileText(lines))
}

test('DefiLlama is asked for coin and contracts at the time of their first movement of the day', async () => {
  const { requests, lineOf, missing, counts } = await fromLlama(llama())
  expect(requests.map(({ path }) => path)).toEqual(['/batchHistorical'])
  const asked = JSON.parse(requests[0]?.query.get('coins') ?? '')
  expect(Object.keys(asked)).toEqual(
    expect.arrayContaining(['coingecko:avalanche-2', `avax:${USDC}`, `avax:${WETH}`]),
  )
  expect(asked[`avax:${WETH}`]).toContain(Date.parse('2024-02-29T12:00:00Z') / 1_000)
  expect(lineOf(WETH)).toMatchObject({
    price: '3412.07',
    currency: 'USD',
    source: 'defillama',
    time: '2024-02-29T11:00:00.000Z',
  })
  expect([missing, counts.requests]).toEqual([[], 1])
})

test('a second run sends no request, also for what DefiLlama does not have, and keeps the lines of the user', async () => {
  const first = await fromLlama(llama([`avax:${WETH}`]))
  expect(first.lineOf(WETH)).toMatchObject({ source: 'not found: defillama' })
  expect(first.lineOf(WETH)?.price).toBeUndefined()
  const own = first.lines.map((line) =>
    line.asset === USDC ? { ...line, price: '1', source: 'mine' } : line,
  )
  const file = writeLines(own)
  const again = await fromLlama(llama(), { prices: file })
  expect([again.requests, again.added]).toEqual([[], 0])
  expect(again.lineOf(USDC)).toMatchObject({ price: '1', source: 'mine' })
  expect(priceFileText(again.lines)).toBe(readFileSync(file, 'utf8'))
})

test('prices of little confidence, far from the time or not above zero are none', async () => {
  const unsure = await fromLlama(llama([], 0.5))
  expect(unsure.added).toBe(0)
  const stale: Answer = (url) =>
    String(llama()(url, {} as IncomingMessage)).replace(/"timestamp":\d+/g, '"timestamp":1500000000')
  expect((await fromLlama(stale)).added).toBe(0)
  const free: Answer = (url) =>
    String(llama()(url, {} as IncomingMessage)).replace(/"price":[\d.]+/g, '"price":0')
  expect((await fromLlama(free)).added).toBe(0)
})

test.for([
  ['a web page', '<html></html>'],
  ['another shape', '{"coins":{"avax":{"prices":"none"}}}'],
  ['no JSON', 'ok'],
])('an answer that is %s is rejected', async ([, body = '']) => {
  const { error, added } = await fromLlama(() => body)
  expect(error).toMatchObject({ code: 'PAGE_MALFORMED' })
  expect(error?.fix).toContain('DefiLlama')
  expect(added).toBe(0)
})

test('a 429 is waited out, and the request is repeated', async () => {
  let asked = 0
  const { added, requests, counts } = await fromLlama((url, request) => {
    asked += 1
    return asked === 1 ? { status: 429, headers: { 'retry-after': '0' } } : llama()(url, request)
  })
  expect([requests.length, counts.rateLimited]).toEqual([2, 1])
  expect(added).toBeGreaterThan(2)
})

test('prices in other currencies are converted by the rate of the last working day', async () => {
  const rates = await serveAnswers(() => zipOf('eurofxref-hist.csv', RATES))
  const { lineOf, requests } = await fromLlama(llama(), {
    currency: 'chf',
    from: '2024-03-03',
    until: '2024-03-03',
    env: { WALLETLAKE_ECB_URL: rates.url },
  })
  expect(rates.requests.map(({ path }) => path)).toEqual(['/stats/eurofxref/eurofxref-hist.zip'])
  expect(requests).toHaveLength(1)
  // 36.5 / 1.0830 * 0.9588, by hand
  expect(lineOf('native', '2024-03-03')).toMatchObject({
    currency: 'CHF',
    price: '32.314127423822714681',
    source: 'defillama (USD, ECB rate of 2024-03-01)',
  })
})

/** As the bank writes it: newest first, units for one euro, a comma at the end of each line. */
const RATES = `Date,USD,JPY,CHF,
2024-12-31,1.0389,163.06,0.9412,
2024-03-04,1.0846,163.06,0.9596,
2024-03-01,1.0830,162.98,0.9588,
2024-02-29,1.0813,N/A,0.9534,
`

test('rates that end before a day of a price are an error, not a missing price', async () => {
  const rates = await serveAnswers(() =>
    zipOf('eurofxref-hist.csv', 'Date,USD,CHF,\n2010-02-12,1.3572,1.4665,\n'),
  )
  const { error, added } = await fromLlama(llama(), {
    currency: 'chf',
    env: { WALLETLAKE_ECB_URL: rates.url },
  })
  expect(error).toMatchObject({ code: 'PAGE_MALFORMED', message: expect.stringContaining('2010-02-12') })
  expect(added).toBe(0)
})

test('a currency without rates, and an answer that is no file of rates, are refused', async () => {
  const rates = await serveAnswers(() => zipOf('eurofxref-hist.csv', RATES))
  const env = { WALLETLAKE_ECB_URL: rates.url }
  expect((await fromLlama(llama(), { currency: 'xyz', env })).error).toMatchObject({
    code: 'USAGE',
    message: 'the European Central Bank states no rates of XYZ',
  })
  const archive = zipOf('eurofxref-hist.csv', RATES)
  for (const body of ['nothing', RATES, archive.subarray(0, 80), zipOf('page.html', '<html></html>')]) {
    const page = await serveAnswers(() => body)
    const refused = await fromLlama(llama(), { currency: 'chf', env: { WALLETLAKE_ECB_URL: page.url } })
    expect(refused.error).toMatchObject({ code: 'PAGE_MALFORMED' })
  }
})

const KEY = 'CG-demo-key-of-a-test'

/** Answers as `/coins/…/market_chart/range` does: irregular times, about one an hour. */
const gecko: Answer = (url) => {
  const [from, to] = ['from', 'to'].map((name) => Number(url.searchParams.get(name)) * 1_000)
  const prices: [number, number][] = []
  for (let ms = (from ?? 0) + 100_123; ms < (to ?? 0); ms += 3_600_321)
    prices.push([ms, 2 + new Date(ms).getUTCHours() / 8])
  return JSON.stringify({ prices, market_caps: [], total_volumes: [] })
}

async function fromGecko(answer: Answer, options: Partial<FetchPricesOptions> = {}) {
  const { url, requests } = await serveAnswers(answer)
  const env = { WALLETLAKE_COINGECKO_URL: url, COINGECKO_API_KEY: KEY, ...options.env }
  const now = Date.parse('2024-06-01')
  return { ...(await fetch({ sources: ['coingecko'], now, ...options, env })), requests }
}

test('CoinGecko is asked once for all days of an asset, in the currency, with the key in its header', async () => {
  const { requests, lineOf, lines } = await fromGecko(gecko, { currency: 'eur', until: '2024-03-03' })
  expect(requests.map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      '/coins/avalanche-2/market_chart/range',
      `/coins/avalanche/contract/${WETH}/market_chart/range`,
    ]),
  )
  expect(new Set(requests.map(({ path }) => path)).size).toBe(requests.length)
  for (const { headers, query } of requests) {
    expect(headers['x-cg-demo-api-key']).toBe(KEY)
    expect(query.get('vs_currency')).toBe('eur')
  }
  expect(lineOf('native')).toMatchObject({
    price: '2',
    currency: 'EUR',
    source: 'coingecko',
    time: '2024-02-29T00:01:47.827Z',
  })
  expect(lineOf('native', '2024-03-01')?.time).toContain('2024-03-01T00:')
  expect(priceFileText(lines)).not.toContain(KEY)
})

test('CoinGecko is not asked for days that a demo key does not reach', async () => {
  const { requests, missing, lineOf } = await fromGecko(gecko, { now: Date.parse('2026-01-01') })
  expect(requests).toEqual([])
  expect(missing.length).toBeGreaterThan(2)
  expect(lineOf('native')?.source).toBeUndefined()
})

test('a contract that CoinGecko does not have remains without a price', async () => {
  const { lineOf, error } = await fromGecko((url, request) =>
    url.pathname.includes(WETH) ? { status: 404, body: '{"error":"coin not found"}' } : gecko(url, request),
  )
  expect(error).toBeUndefined()
  expect(lineOf(WETH)).toMatchObject({ source: 'not found: coingecko' })
  expect(lineOf('native')?.price).toBe('2')
})

test.for([401, 403])(
  'a key that CoinGecko answers with %d is named by its variable, without its value',
  async (status) => {
    const body = `{"status":{"error_code":10002,"error_message":"invalid key ${KEY}"}}`
    const { error } = await fromGecko(() => ({ status, body }))
    expect(error).toMatchObject({ code: 'KEY_REFUSED' })
    expect(error?.fix).toContain('COINGECKO_API_KEY')
    expect(`${error?.message} ${error?.fix}`).not.toContain(KEY)
  },
)

test('CoinGecko without a key is refused before a request', async () => {
  const { error, requests } = await fromGecko(gecko, { env: { COINGECKO_API_KEY: '' } })
  expect(error).toMatchObject({
    code: 'USAGE',
    message: 'CoinGecko needs a key, and COINGECKO_API_KEY is not set',
  })
  expect(requests).toEqual([])
})

test('own swaps imply the price of the other asset, and say which', async () => {
  const file = writeLines([{ date: DAY, asset: USDC, currency: 'USD', price: '1', chain: '43114' }])
  const { lineOf, counts } = await fetch({ sources: ['swaps'], prices: file })
  // 500 USDC for 1/7 WETH.e; the amount is cut to a whole unit.
  expect(lineOf(WETH)).toMatchObject({ price: '3500.0000000000000035', source: 'own swap' })
  expect(lineOf(WETH)?.transaction).toMatch(/^0x/)
  expect(lineOf(WETH)?.time).toBe('2024-02-29T12:00:00.000Z')
  expect(counts.requests).toBe(0)
})

test('another file of prices is a source, and each source is asked for what the earlier ones lack', async () => {
  const other = tempFile('bank.csv', `date,asset,currency,price\n${DAY},native,USD,36\n`)
  const { requests, lineOf } = await fromLlama(llama([`avax:${WETH}`]), {
    sources: [`csv:${other}`, 'defillama', 'swaps'],
  })
  expect(lineOf('native')).toMatchObject({ price: '36', source: 'csv:bank.csv' })
  const heldBefore = Date.parse(DAY) / 1_000 - 1
  const asked = JSON.parse(requests[0]?.query.get('coins') ?? '')
  expect(asked['coingecko:avalanche-2']).toEqual([heldBefore])
  expect([lineOf(USDC)?.source, lineOf(WETH)?.source]).toEqual(['defillama', 'own swap'])
})

test('an unknown source is refused with the names of all', async () => {
  await expect(fetch({ sources: ['defilama'] })).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('service, defillama, coingecko, swaps, csv:FILE'),
  })
})

test('--prices auto keeps prices beside the output, and a second command sends no request', async () => {
  const { url, requests } = await serveAnswers(llama())
  const env = { WALLETLAKE_DEFILLAMA_URL: url }
  const args = ['statement', output, '--year', '2024', '--prices', 'auto', '--format', 'csv']
  const first = await runCommand(args, env)
  expect(first).toMatchObject({ exit: 0 })
  expect(first.stdout).toMatch(/^wallet_address.*closing_value\n/)
  const kept = readFileSync(`${output}.prices.csv`, 'utf8')
  expect(kept).toContain(`2024-02-29,43114,${WETH},USD,3412.07,WETH.e,defillama,,`)
  const asked = requests.length
  expect(asked).toBeGreaterThan(0)
  const again = await runCommand(args, env)
  expect([again.stdout, requests.length]).toEqual([first.stdout, asked])
})

test('--prices auto serves convert and report', { tags: ['long'] }, async () => {
  const { url } = await serveAnswers(llama())
  const env = { WALLETLAKE_DEFILLAMA_URL: url }
  const report = await runCommand(
    ['report', output, '--prices', 'auto', '--out', join(tempFolder(), 'r.html')],
    env,
  )
  expect(report).toMatchObject({ exit: 0 })
  const koinly = [
    'convert',
    output,
    '--to',
    'koinly',
    '--prices',
    'auto',
    '--out',
    join(tempFolder(), 'k.csv'),
  ]
  expect(await runCommand(koinly, env)).toMatchObject({ exit: 0 })
})

test('--prices auto stops after --max-requests and keeps what it received', async () => {
  const { url } = await serveAnswers(llama())
  const copy = join(suiteFolder(), 'stopped')
  await exportMadeUp(copy, CHAIN, '43114')
  const rates = await serveAnswers(() => zipOf('eurofxref-hist.csv', RATES))
  const env = { WALLETLAKE_DEFILLAMA_URL: url, WALLETLAKE_ECB_URL: rates.url }
  const args = [
    'statement',
    copy,
    '--year',
    '2024',
    '--prices',
    'auto',
    '--currency',
    'eur',
    '--max-requests',
    '1',
  ]
  const stopped = await runCommand(args, env)
  expect(stopped).toMatchObject({ exit: 9, stdout: '' })
  expect(existsSync(`${copy}.prices.csv`)).toBe(true)
  expect(await runCommand([...args.slice(0, -1), '2'], env)).toMatchObject({ exit: 0 })
})

test('the command separates sources from the start of the period', async () => {
  const { url } = await serveAnswers(llama())
  const out = join(tempFolder(), 'prices.csv')
  const env = { WALLETLAKE_DEFILLAMA_URL: url }
  const args = ['prices', output, '--from', '2024-03-01', '--from', 'defillama', '--out', out]
  const { exit, stderr } = await runCommand(args, env)
  expect(exit).toBe(0)
  expect(stderr).toMatch(/requesting \d+ prices from DefiLlama: 1 request/)
  expect(readFileSync(out, 'utf8')).not.toContain('2024-01-01')
  const twice = await runCommand([...args, '--year', '2024'], env)
  expect(twice).toMatchObject({ exit: 2 })
  const dates = await runCommand(['prices', output, '--from', '2024-03-01', '--from', '2024-03-02'], env)
  expect(dates.stderr).toContain('--from has two dates, 2024-03-01 and 2024-03-02')
})
