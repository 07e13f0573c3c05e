import type { FileForm, FileSet, Place } from '../csv/multi-file-writer.ts'
import type { Preset } from '../csv/preset.ts'
import { type Line, linesOf, withLabels } from '../import-rows.ts'
import { assetKey, type Movement } from '../movement.ts'

const COMMON = {
  name: 'rp2',
  title: 'rp2, through the manual plugin of dali',
  date: 'YYYY-MM-DD HH:mm:ss+00:00',
  fee: 'in the fee columns, nothing sold',
  naming: 'ticker',
  // RP2Decimal has 31 digits and compares at 13 decimals: with more than 18 digits before the point it raises an error.
  numbers: { maxDecimals: 13, maxDigits: 31, maxSumDigits: 31, maxWholeDigits: 18 },
  holdsNfts: false,
  holdsSwaps: false,
  // They stand in a file that has no types.
  labelsOwnTransfers: false,
  needsPrices: true,
  source: 'rp2 eb2a368, rp2_decimal.py, out_transaction.py; dali-rp2 a17f269, plugin/input/csv/manual.py',
  rulesOf: '2026-02-12',
  unverified: 'the import: neither program was run',
} as const

/** How both what came in and what went out begin. */
const HEAD: Preset['columns'] = [
  ['unique_id', 'id'],
  ['timestamp', 'date'],
  ['asset', 'asset'],
  ['exchange', 'wallet'],
  ['holder', 'holder'],
  ['transaction_type', 'type'],
  ['spot_price', 'price'],
]

const IN: FileForm = {
  ...COMMON,
  file: 'in.csv',
  columns: [
    ...HEAD,
    ['crypto_in', 'amount'],
    ['crypto_fee', 'empty'],
    ['fiat_in_no_fee', 'empty'],
    ['fiat_in_with_fee', 'empty'],
    ['fiat_fee', 'empty'],
    ['notes', 'note'],
  ],
  types: { in: 'BUY' },
  labels: {
    in: ['AIRDROP', 'DONATE', 'GIFT', 'HARDFORK', 'INCOME', 'INTEREST', 'MINING', 'STAKING', 'WAGES'],
    out: [],
    swap: [],
  },
}

const OUT: FileForm = {
  ...COMMON,
  file: 'out.csv',
  columns: [
    ...HEAD,
    ['crypto_out_no_fee', 'outAmountOrZero'],
    ['crypto_fee', 'feeAmountOrZero'],
    ['crypto_out_with_fee', 'empty'],
    ['fiat_out_no_fee', 'empty'],
    ['fiat_fee', 'empty'],
    ['notes', 'note'],
  ],
  types: { out: 'SELL', fee: 'FEE' },
  labels: { in: [], out: ['DONATE', 'GIFT', 'LOST', 'STAKING'], swap: [] },
}

const INTRA: FileForm = {
  ...COMMON,
  file: 'intra.csv',
  // A move without a fee needs none.
  needsPrices: false,
  columns: [
    ['unique_id', 'id'],
    ['timestamp', 'date'],
    ['asset', 'asset'],
    ['from_exchange', 'fromWallet'],
    ['from_holder', 'holder'],
    ['to_exchange', 'toWallet'],
    ['to_holder', 'holder'],
    ['spot_price', 'price'],
    ['crypto_sent', 'amount'],
    ['crypto_received', 'amount'],
    ['notes', 'note'],
  ],
  types: {},
}

/** What comes in, what goes out, and what moves between own wallets, each in its file. */
export const rp2: FileSet = {
  name: COMMON.name,
  title: COMMON.title,
  files: [IN, OUT, INTRA],
  isPerWallet: false,
  needsTransactions: false,
  placesOf: (movements, { labelOf }) => {
    const lines = withLabels(linesOf(movements, false), labelOf)
    const sent = new Map<string, number>()
    for (const { isOwn, movements: of } of lines)
      if (isOwn && of[0].isOut) sent.set(transferKey(of[0]), (sent.get(transferKey(of[0])) ?? 0) + 1)
    return lines.map((line) => placeOf(line, sent))
  },
  source: COMMON.source,
  rulesOf: COMMON.rulesOf,
  unverified: COMMON.unverified,
}

function placeOf(line: Line, sent: Map<string, number>): Place {
  const [movement] = line.movements
  if (movement.type === 'self') return { line, reason: 'a transfer to oneself, which changes nothing' }
  if (!line.isOwn) return { line, form: line.kind === 'in' ? IN : OUT }
  const key = transferKey(movement)
  const waiting = movement.isOut ? 0 : (sent.get(key) ?? 0)
  if (waiting > 0) sent.set(key, waiting - 1)
  return { line, form: INTRA, isTold: waiting > 0 }
}

/** What both sides of a transfer between own wallets have in common. */
function transferKey({ wallet, counterparty, isOut, asset, value, source }: Movement): string {
  const [from, to] = isOut ? [wallet, counterparty] : [counterparty, wallet]
  return [from, to, assetKey(asset), value, source].join('|')
}
