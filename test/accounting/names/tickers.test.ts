import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkFile } from '../../../src/accounting/check/check-file.ts'
import { convert } from '../../../src/accounting/convert.ts'
import { FORMAT_NAMES } from '../../../src/accounting/formats.ts'
import { pricesNeeded, tickersNeeded } from '../../../src/accounting/needed.ts'
import { statement } from '../../../src/accounting/statement/statement.ts'
import type { JsonObject } from '../../../src/demo-server/json.ts'
import { balances } from '../../../src/ledger/balances/balances.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { testSample } from '../../helpers/test-sample.ts'
import { GOLDEN_CHAIN, GOLDEN_PRICES } from '../golden-chain.ts'
import { exportMadeUp } from '../made-up-export.ts'

const USDC = '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e'
/** A token with the symbol USDC and another contract. */
const IMPOSTOR = `0x${'d'.repeat(40)}`
const SHARE = `0x${'e'.repeat(40)}`

/** Gives two tokens of the golden chain the contract and the symbol of USDC. */
const withUsdc = (text: string) =>
  text.replaceAll('c'.repeat(40), USDC.slice(2)).replaceAll('"symbol":"WETH.e"', '"symbol":"USDC"')
/** Gives a token the symbol of spam, and other decimals. */
const renameUsdc = (text: string) =>
  text.replaceAll('"symbol":"USDC","decimals":6', '"symbol":"claimUSDC","decimals":0')
const chainWith = (...changes: ((text: string) => string)[]): JsonObject[] =>
  JSON.parse(changes.reduce((text, change) => change(text), JSON.stringify(GOLDEN_CHAIN)))

const folder = suiteFolder()
const at = (name: string) => join(folder, name)
const [output, renamed, unknown] = [at('out'), at('renamed'), at('unknown')]
const mantle = at('mantle')
const prices = at('prices.csv')

beforeAll(async () => {
  await exportMadeUp(output, chainWith(withUsdc), '43114')
  await exportMadeUp(renamed, chainWith(withUsdc, renameUsdc), '43114')
  await exportMadeUp(unknown, chainWith(renameUsdc), '43114')
  const first = chainWith((text) => text.replaceAll('"chainId":"43114"', '"chainId":"5000"')).slice(0, 6)
  await exportMadeUp(mantle, first, '5000', { nativeSymbol: 'MNT' })
  writeFileSync(prices, withUsdc(GOLDEN_PRICES).replace(',USDC,', `,${USDC},`))
})

function tickerFile(name: string, ...lines: string[]): string {
  writeFileSync(at(name), `${['chain,contract,ticker', ...lines].join('\n')}\n`)
  return at(name)
}

async function textOf(to: string, options: object = {}): Promise<string> {
  const out = at(`${to}-${Object.keys(options).join('-')}`)
  const { files } = await convert(output, { to, out, map: at(`${to}.assets.csv`), ...options })
  return files
    .filter((file) => !file.endsWith('.omitted.csv'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('')
}

/** One with placeholders, one of several files, a journal and a plain table, then the others. */
const FORMATS = [
  'koinly',
  'rp2',
  'beancount',
  'generic',
  ...FORMAT_NAMES.filter((to) => !/^(koinly|rp2|beancount|generic|rotki)$/.test(to)),
]
testSample(
  4,
  FORMATS,
  'a conversion for %s names a well-known token by its ticker, and an impostor by its contract',
  async (to) => {
    const { files } = await convert(output, { to, out: at(to), map: at('numbers.csv'), prices })
    const tables = files.filter((file) => !/\.(omitted|assets)\.csv$/.test(file))
    const text = tables.map((file) => readFileSync(file, 'utf8')).join('')
    expect(text).toMatch(/\bUSDC\b(?!-)/)
    expect(text.toLowerCase()).not.toContain('usdc-b97ef9ef')
    const others = files.filter((file) => !tables.includes(file)).map((file) => readFileSync(file, 'utf8'))
    if (to === 'koinly') expect(readFileSync(at('numbers.csv'), 'utf8')).toContain(IMPOSTOR)
    // Some programs cannot hold the amounts of the impostor.
    else expect(text.toLowerCase().includes('usdc-dddddddd') || others.join().includes(IMPOSTOR)).toBe(true)
    const problems: unknown[] = []
    for (const file of tables) await checkFile(file, to, (problem) => problems.push(problem))
    expect(problems).toEqual([])
  },
)

test('koinly gets placeholders only for tokens without a ticker', async () => {
  await textOf('koinly')
  expect(readFileSync(at('koinly.assets.csv'), 'utf8')).not.toContain(USDC)
})

test('a token that already has a number keeps it, unless the user names it', async () => {
  const map = at('numbered.csv')
  await convert(output, { to: 'koinly', map, builtinTickers: false, write: () => {} })
  const numbered = readFileSync(map, 'utf8')
  const number = new RegExp(`^(NULL\\d+),43114,erc20,${USDC},`, 'm').exec(numbered)?.[1]
  const kept = await textOf('koinly', { map })
  expect(kept).toContain(`,${number},`)
  expect(kept).not.toMatch(/,USDC,/)
  const named = await textOf('koinly', {
    map,
    tickers: tickerFile('numbered-usdc.csv', `43114,${USDC},USDC`),
  })
  expect(named).not.toContain(`,${number},`)
  expect(named).toMatch(/,USDC,/)
  expect(readFileSync(map, 'utf8')).toBe(numbered)
})

test('without the table of well-known tokens, all tokens are named by symbol and contract', async () => {
  expect(await textOf('generic', { builtinTickers: false })).toContain(',USDC-b97ef9ef,')
})

test('rotki identifies tokens by contract, unless the user gives another identifier', async () => {
  expect(await textOf('rotki')).toContain(`,eip155:43114/erc20:${USDC},`)
  writeFileSync(at('rotki.csv'), `chain,contract,ticker,rotki\n43114,${USDC},X,eip155:1/erc20:${IMPOSTOR}\n`)
  const text = await textOf('rotki', { tickers: at('rotki.csv') })
  expect(text).toContain(`,eip155:1/erc20:${IMPOSTOR},`)
  expect(text).not.toContain(`erc20:${USDC},`)
})

describe('rotki has no asset for the coin of Mantle, whose symbol other assets have', () => {
  const convertMantle = async (options: object = {}) => {
    const out = at(`mantle-${Object.keys(options)}`)
    const { omitted } = await convert(mantle, { to: 'rotki', out, ...options })
    const [events = '', trades = ''] = ['events', 'trades'].map((name) =>
      readFileSync(join(out, `${name}.csv`), 'utf8'),
    )
    return { omitted: Object.keys(omitted), events, trades }
  }

  test('so its movements are left out, and the tokens of its swaps are not', async () => {
    const { omitted, events, trades } = await convertMantle()
    const reason = 'rotki has no asset for the coin of chain 5000; name one with --tickers'
    expect(omitted).toContainEqual(expect.stringContaining(reason))
    expect(events + trades).not.toMatch(/,(MNT|COIN),/)
    expect(events).toMatch(/^Deposit,external,eip155:5000\/erc20:0xc{40},61.234567,/m)
  })

  test.for([
    'MNT',
    '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    'eip155:1/erc20:0x3c3a81e81dc49a522a592e7622a7e711c06bf354',
  ])('unless the user names %s', async (id) => {
    writeFileSync(at('coin.csv'), `chain,contract,ticker,rotki\nmantle,native,,${id}\n`)
    const { omitted, events, trades } = await convertMantle({ tickers: at('coin.csv') })
    expect(omitted).not.toContainEqual(expect.stringContaining('coin of chain'))
    expect(events).toContain(`Spend,external,${id},0.00125000000005,`)
    expect(trades).toMatch(new RegExp(`^external,${id},eip155:5000/erc20:0xc{40},61.234567,1.5,`, 'm'))
    const problems: unknown[] = []
    const file = join(at('mantle-tickers'), 'events.csv')
    await checkFile(file, 'rotki', (problem) => problems.push(problem))
    expect(problems).toEqual([])
  })
})

test('the lines of the user take precedence, by program and then for all programs', async () => {
  const [usdc, share] = [USDC.toUpperCase().replace('0X', '0x'), SHARE]
  const lines = [`avalanche,${usdc},USDX,ID:77`, `0xa86a,${share},VAULT,`, `1,${IMPOSTOR},OTHER,`]
  writeFileSync(at('own.csv'), `chain,contract,ticker,koinly\n${lines.join('\n')}\n`)
  const generic = await textOf('generic', { tickers: at('own.csv') })
  for (const name of ['USDX', 'VAULT', 'USDC-dddddddd']) expect(generic).toContain(`,${name},`)
  expect(generic).not.toMatch(/,(USDC|OTHER|vUSDC-eeeeeeee),/)
  expect(await textOf('koinly', { tickers: at('own.csv') })).toMatch(/,ID:77,/)
})

test('a token whose decimals are not those of the well-known token keeps its digits', async () => {
  const chunks: string[] = []
  await convert(renamed, { to: 'generic', write: (text) => void chunks.push(text) })
  expect(chunks.join('')).toContain(',claimUSDC-b97ef9ef,')
})

test('no spam rule applies to a well-known token', async () => {
  const flaggedIn = async (folder: string) =>
    (await balances(folder)).flagged.map(({ asset_address }) => asset_address)
  expect(await flaggedIn(renamed)).not.toContain(USDC)
  expect(await flaggedIn(unknown)).toContain(`0x${'c'.repeat(40)}`)
})

test('lists the tokens without a ticker, those with the most movements first', async () => {
  const needed = await tickersNeeded(output)
  const contracts = needed.map(({ contract }) => contract)
  expect(contracts).toContain(IMPOSTOR)
  expect(contracts).not.toContain(USDC)
  const counts = needed.map(({ movements }) => movements)
  expect(counts).toEqual(counts.toSorted((a, b) => b - a))
  const { volume, symbol } = needed.find(({ contract }) => contract === SHARE) ?? {}
  const amounts = [...(await textOf('generic', { swaps: 'off' })).matchAll(/,([\d.]+),vUSDC-eeeeeeee,/g)]
  expect(amounts).not.toEqual([])
  expect(Number(volume)).toBeCloseTo(amounts.reduce((sum, [, amount]) => sum + Number(amount), 0))
  expect(symbol).toBe('vUSDC')
  const tickers = tickerFile('some.csv', `43114,${SHARE},VAULT`, `43114,${IMPOSTOR},`)
  const left = (await tickersNeeded(output, { tickers })).map(({ contract }) => contract)
  expect(left).toEqual(contracts.filter((contract) => contract !== SHARE))
})

test('excludeSpam keeps a token that the user names, and leaves it out of the list otherwise', async () => {
  const { flagged } = await balances(output)
  const spam = flagged.find(({ asset_type }) => asset_type === 'erc20')?.asset_address ?? ''
  const listed = (await tickersNeeded(output, { excludeSpam: true })).map(({ contract }) => contract)
  expect(listed).not.toContain(spam)
  expect(await textOf('generic', { excludeSpam: true })).not.toContain(spam)
  const tickers = tickerFile('spam.csv', `43114,${spam},MINE`)
  for (const to of ['generic', 'rotki'])
    expect(await textOf(to, { excludeSpam: true, tickers })).toContain(spam)
})

test('a statement without spam has the lines of all other assets', async () => {
  const { flagged } = await balances(output)
  const spam = new Set<string | null>(flagged.map(({ asset_address }) => asset_address))
  const all = await statement([output], { year: '2024', collectsNeeded: true })
  const some = await statement([output], { year: '2024', collectsNeeded: true, excludeSpam: true })
  const expected = all.lines.filter(({ asset_address }) => !spam.has(asset_address))
  expect(some.lines).toEqual(expected)
  expect([all.spamLines, some.spamLines]).toEqual([0, all.lines.length - expected.length])
  expect(some.spamLines).toBeGreaterThan(0)
  expect(some.pricesNeeded).toEqual(all.pricesNeeded.filter(({ asset }) => !spam.has(asset)))
})

test('prices are still needed by contract', async () => {
  const assets = (await pricesNeeded(output)).map(({ asset }) => asset)
  expect(assets).toContain(USDC)
})

test.for([
  {
    lines: ['43114,native,ABC'],
    says: ':2: found ticker "ABC" for native, expected none: the program gets the symbol of the coin',
  },
  { lines: ['43114,0x12,ABC'], says: ':2: found contract 0x12, expected 0x and 40 hex digits' },
  { lines: [`atlantis,${SHARE},ABC`], says: ':2: found chain atlantis, expected an id such as 43114' },
  { lines: [`43114,${SHARE},=1+1`], says: ':2: found ticker "=1+1", expected at most 20 letters' },
  { lines: [`43114,${SHARE},NULL7`], says: ':2: found ticker "NULL7"' },
  { lines: [`43114,${SHARE},USDC-b97ef9ef`], says: ':2: found ticker "USDC-b97ef9ef"' },
  { lines: [`43114,${SHARE},A`, `0xa86a,${SHARE},A`], says: `:3: found ${SHARE} again, as in line 2` },
  { lines: [`43114,${SHARE},A`, `43114,${IMPOSTOR},a`], says: ':3: found ticker a again' },
  {
    lines: [`43114,${IMPOSTOR},usdc`],
    says: `:2: found usdc for ${IMPOSTOR}, which is the name of the well-known token ${USDC}`,
  },
  { lines: [`43114,${SHARE},avax`], says: ':2: found avax, the native coin' },
])('refuses $lines', async ({ lines, says }) => {
  const tickers = tickerFile('refused.csv', ...lines)
  await expect(convert(output, { to: 'generic', tickers, write: () => {} })).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(`${tickers}${says}`),
    fix: expect.stringContaining('Correct the line'),
  })
})

test.for([
  {
    header: 'chain,contract,ticker,konly',
    name: 'ID:1',
    says: ':2: found column konly, expected columns chain',
  },
  {
    header: 'chain,contract,ticker,koinly',
    name: 'ID:x',
    says: ':2: found koinly "ID:x", expected a ticker, or',
  },
  {
    header: 'chain,contract,ticker,rotki',
    name: 'USDC',
    says: ':2: found rotki "USDC", expected an identifier',
  },
  {
    header: 'chain,contract,ticker,rp2',
    name: 'a b',
    says: ':2: found rp2 "a b", expected at most 20 letters',
  },
  {
    header: 'chain,contract,ticker,rotki',
    contract: 'native',
    name: 'a b',
    says: ':2: found rotki "a b" for native, expected an identifier',
  },
  {
    header: 'chain,contract,ticker,koinly',
    contract: 'native',
    name: 'ID:1',
    says: ':2: found koinly "ID:1" for native, expected none',
  },
])('refuses the column of $header with $name', async ({ header, contract = SHARE, name, says }) => {
  writeFileSync(at('column.csv'), `${header}\n43114,${contract},,${name}\n`)
  await expect(
    convert(output, { to: 'generic', tickers: at('column.csv'), write: () => {} }),
  ).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining(says) })
})
