import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { checkFile } from '../../src/accounting/check/check-file.ts'
import { FORMAT_NAMES, PRESETS } from '../../src/accounting/formats.ts'
import { readLabels } from '../../src/accounting/labels.ts'
import type { Manifest } from '../../src/core/model/manifest.ts'
import { compareExpected } from '../../src/ledger/balances/compare-expected.ts'
import { readDeclaredAmounts } from '../../src/ledger/balances/declared-amounts.ts'
import { readPrices } from '../../src/ledger/prices/prices.ts'
import { applyNames } from '../../src/read/address-book.ts'
import { edited } from './mutate.ts'
import { withCanary } from './path-targets.ts'
import type { Target } from './targets.ts'

const WALLET = `0x${'ab'.repeat(20)}`
const TOKEN = `0x${'cd'.repeat(20)}`

const AMOUNTS = `wallet_address,asset_type,asset_address,token_id,value
${WALLET},native,,,1000000000000000000
"savings",erc20,${TOKEN},,-25
${WALLET},erc1155,${TOKEN},7,3
`
const LABELS = `match,token,method,direction,from,until,type
${TOKEN},USD*,,in,2024-03-31,2024-03-31T12:00:00Z,income
,,swap*,,,,gift
0x${'12'.repeat(32)},,,,,,gift
`
const NAMES = `address,name,chain\n${WALLET},savings,1\n${TOKEN},=1+1,\n`
const PRICES = `date,chain,asset,currency,price
2024-03-31,,native,USD,54.20
2024-03-31T12:00:00Z,ethereum,${TOKEN},USD,1
`
const SPECIAL = [
  '"',
  '"\r\n',
  ',',
  '\0',
  '\ufeff',
  '=1+1',
  '1e400',
  '-0',
  '9'.repeat(400),
  '\u202e',
  '../x',
  '0x',
]

/** User files: an error is reported as USAGE, and only the file itself is read or written. */
export function csvTargets(): Target[] {
  return [
    csvTarget('files of opening balances', AMOUNTS, (file) =>
      readDeclaredAmounts(file, {
        walletsLabelled: () => [WALLET],
        labels: [],
        wallets: undefined,
        decimalsOf: () => 18,
      }),
    ),
    csvTarget('files of expected balances', AMOUNTS, (file) =>
      compareExpected([], file, [{ address: WALLET, label: 'savings' }]),
    ),
    csvTarget('files of labels', LABELS, (file) =>
      readLabels(file, { pattern: /^[a-z:]+$/, expected: 'an account' }),
    ),
    csvTarget('address books', NAMES, (file) =>
      applyNames(file, { job: { chain: '1' }, coverage: [] } as unknown as Manifest),
    ),
    csvTarget('files of prices', PRICES, (file) =>
      readPrices(file, { chain: '1', assetsOf: async () => [] }),
    ),
    importFileTarget(),
  ]
}

const csvTarget = (name: string, valid: string, read: (file: string) => unknown): Target => ({
  name,
  input: corrupted(valid),
  read: (bytes, folder) =>
    withCanary(folder, async (output) => {
      const file = join(output, 'file.csv')
      writeFileSync(file, bytes as Buffer)
      await read(file)
    }),
  cost: 2,
})

/** Import files of any accounting program, with the header of its preset. */
function importFileTarget(): Target {
  const headers = PRESETS.map(({ columns }) => columns.map(([header]) => header).join(','))
  const files = fc
    .tuple(fc.constantFrom(...headers), fc.array(fc.array(cell, { maxLength: 30 }), { maxLength: 4 }))
    .map(([header, rows]) => [header, ...rows.map((cells) => cells.join(','))].join('\n'))
    .chain((text) => fc.oneof(fc.constant(Buffer.from(text)), edited(text)))
  return {
    name: 'files that are checked',
    input: fc.tuple(fc.constantFrom(...FORMAT_NAMES), files),
    read: (input, folder) =>
      withCanary(folder, async (output) => {
        const [preset, bytes] = input as [string, Buffer]
        const file = join(output, 'file.csv')
        mkdirSync(output, { recursive: true })
        writeFileSync(file, bytes)
        await checkFile(file, preset, ({ line, what: message }) => {
          if (!(line > 0) || message === '') throw new Error('a problem without a line or message')
        })
      }),
    cost: 2,
  }
}

const cell = fc.oneof(
  fc.constantFrom('2024-03-31 12:00:00', 'Send', '1.5', 'ETH', TOKEN, ...SPECIAL),
  fc.string({ unit: 'binary', maxLength: 8 }),
)

/** A valid file with bytes removed and inserted, or with whole cells replaced. */
function corrupted(valid: string): fc.Arbitrary<Buffer> {
  const cells = valid.split(/([,\n])/)
  const replaced = fc
    .array(fc.tuple(fc.nat(cells.length - 1), cell), { minLength: 1, maxLength: 4 })
    .map((changes) => Buffer.from(changes.reduce((all, [at, text]) => all.with(at, text), cells).join('')))
  return fc.oneof(replaced, edited(valid))
}
