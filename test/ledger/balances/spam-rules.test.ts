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

test('a token whose events are not its balances is flagged, one that wraps the coin is not', async () => {
  const { flagged } = await balances(output)
  const lies = flagged.filter(({ flags }) => flags.some(({ rule }) => rule === 'below zero'))
  const odd = Object.entries(nodeData.erc20).flatMap(([token, { reconcilable }]) =>
    reconcilable ? [] : [token.toLowerCase()],
  )
  expect(lies).toHaveLength(1)
  expect(odd).toContain(lies[0]?.asset_address)
})

test('what is flagged is left out of a conversion where that is asked for, and listed', async () => {
  const { flagged } = await balances(output)
  const [all, some] = [[] as string[], [] as string[]]
  const whole = await convert(output, { to: 'generic', write: (text) => void all.push(text) })
  const less = await convert(output, {
    to: 'generic',
    excludeSpam: true,
    write: (text) => void some.push(text),
  })
  const left = Object.values(less.omitted).reduce((sum, count) => sum + count, 0)
  expect(left).toBeGreaterThan(0)
  expect(Object.keys(less.omitted).every((reason) => reason.startsWith('spam: '))).toBe(true)
  expect(all.join('').split('\n').length - some.join('').split('\n').length).toBeGreaterThanOrEqual(1)
  expect(whole.lines).toBeGreaterThan(less.lines)
  for (const { asset_address } of flagged) expect(some.join('')).not.toContain(asset_address)
})

test('jobs/ACCOUNTING.md lists every rule', () => {
  const told = rowsOf(sectionOf(pageAt('jobs/ACCOUNTING.md'), '## Find spam tokens')).map(([rule]) => rule)
  expect(told).toEqual([...SPAM_RULES.map(({ rule }) => rule), 'below zero'])
})
