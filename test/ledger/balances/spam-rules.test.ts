import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { convert } from '../../../src/accounting/convert.ts'
import { balances } from '../../../src/ledger/balances/balances.ts'
import { SPAM_RULES, spamFlagsOf } from '../../../src/ledger/balances/spam-rules.ts'
import { pageAt, rowsOf, sectionOf } from '../../documents/pages.ts'
import { exportDemo } from '../../helpers/demo-export.ts'
import { nodeData } from '../../helpers/node-data.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'

const output = join(suiteFolder(), 'out')
beforeAll(() => exportDemo(output))

const rules = (symbol: string | null) => spamFlagsOf(symbol, 'AVAX').map(({ rule }) => rule)

test.for([
  { symbol: 'https://x.example', rule: 'link' },
  { symbol: 'freeth.io', rule: 'link' },
  { symbol: 'Zepe.IO', rule: 'link' },
  { symbol: 'www.gift', rule: 'link' },
  { symbol: 'Visit to claim', rule: 'lure' },
  { symbol: 'Claim-now', rule: 'lure' },
  { symbol: '$5000.00', rule: 'price tag' },
  { symbol: 'US\u200bDC', rule: 'invisible' },
  { symbol: '\u202eCDSU', rule: 'invisible' },
  { symbol: 'USDТ', rule: 'look-alike' },
  { symbol: 'ＵＳＤＣ', rule: 'look-alike' },
  { symbol: 'АVАХ', rule: 'look-alike' },
  { symbol: 'AVAX', rule: "coin's symbol" },
])('$symbol is flagged as $rule', ({ symbol, rule }) => {
  expect(rules(symbol)).toContain(rule)
})

test.for([
  'USDC',
  'USDC.e',
  'WETH.e',
  'BTC.b',
  'sAVAX',
  'WAVAX',
  'yvDAI',
  'UNI-V2',
  '币',
  'Ł',
  'CLAIMX'.slice(2),
  'APE',
  null,
])('%s is not flagged', (symbol) => {
  expect(rules(symbol)).toEqual([])
})

test('flags a token whose events do not match its balances, but not one that wraps the coin', async () => {
  const { flagged } = await balances(output)
  const misreporting = flagged.filter(({ flags }) => flags.some(({ rule }) => rule === 'below zero'))
  const unreconcilable = Object.entries(nodeData.erc20).flatMap(([token, { reconcilable }]) =>
    reconcilable ? [] : [token.toLowerCase()],
  )
  expect(misreporting).toHaveLength(1)
  expect(unreconcilable).toContain(misreporting[0]?.asset_address)
})

test('omits flagged tokens from a conversion with excludeSpam, and counts them by reason', async () => {
  const { flagged } = await balances(output)
  const [complete, filtered] = [[] as string[], [] as string[]]
  const unfilteredResult = await convert(output, { to: 'generic', write: (text) => void complete.push(text) })
  const filteredResult = await convert(output, {
    to: 'generic',
    excludeSpam: true,
    write: (text) => void filtered.push(text),
  })
  const omitted = Object.values(filteredResult.omitted).reduce((sum, count) => sum + count, 0)
  expect(omitted).toBeGreaterThan(0)
  expect(Object.keys(filteredResult.omitted).every((reason) => reason.startsWith('spam: '))).toBe(true)
  expect(complete.join('').split('\n').length - filtered.join('').split('\n').length).toBeGreaterThanOrEqual(
    1,
  )
  expect(unfilteredResult.lines).toBeGreaterThan(filteredResult.lines)
  for (const { asset_address } of flagged) expect(filtered.join('')).not.toContain(asset_address)
})

test('jobs/ACCOUNTING.md lists every rule', () => {
  const documented = rowsOf(sectionOf(pageAt('jobs/ACCOUNTING.md'), '## Find spam tokens')).map(
    ([rule]) => rule,
  )
  expect(documented).toEqual([...SPAM_RULES.map(({ rule }) => rule), 'below zero'])
})
