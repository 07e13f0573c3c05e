import type { MultiFileWriter, Placement, Preset } from '../csv/preset.ts'
import { type ImportRow, labelledRowsOf } from '../import-rows.ts'
import { assetKey, type Movement } from '../movement.ts'

const ABOUT = {
  name: 'rp2',
  title: 'rp2, through the manual plugin of dali',
  source:
    'rp2 eb2a368, rp2_decimal.py, out_transaction.py, ods_parser.py; dali-rp2 a17f269, plugin/input/csv/manual.py; tested',
  rulesOf: '2026-02-12',
}

const COMMON = {
  ...ABOUT,
  date: 'YYYY-MM-DD HH:mm:ss+00:00',
  fee: 'fee columns',
  naming: 'ticker',
  // RP2Decimal has 31 digits. More than 18 digits before the point raise an error. rp2 reads the sheet of dali with 11
  // decimals, as floating-point numbers, and raises an error if an amount or a price is then zero.
  numbers: { maxDecimals: 11, readsFloats: true, maxDigits: 31, maxSumDigits: 31, maxWholeDigits: 18 },
  // dali writes the names of wallets into a configuration file, as a list with commas in which % is a special character.
  excludedFromWallets: /[,%]/g,
  supportsNfts: false,
  supportsSwaps: false,
  equalLines: {
    handling: 'distinguish',
    compares: 'unique_id (dali-rp2 a17f269, plugin/input/csv/manual.py)',
  },
  // Transfers between own wallets go to intra.csv, which has no types.
  labelsOwnTransfers: false,
  needsPrices: true,
  rejectsNegativeBalances: true,
} as const

/** The first columns of in.csv and out.csv. */
const COMMON_COLUMNS: Preset['columns'] = [
  ['unique_id', 'id'],
  ['timestamp', 'date'],
  ['asset', 'asset'],
  ['exchange', 'wallet'],
  ['holder', 'holder'],
  ['transaction_type', 'type'],
  ['spot_price', 'price'],
]

const IN: Preset = {
  ...COMMON,
  file: 'in.csv',
  columns: [
    ...COMMON_COLUMNS,
    ['crypto_in', 'amount'],
    ['crypto_fee', 'empty'],
    ['fiat_in_no_fee', 'empty'],
    ['fiat_in_with_fee', 'empty'],
    ['fiat_fee', 'empty'],
    ['notes', 'note'],
  ],
  types: { in: 'BUY', income: { airdrop: 'AIRDROP', reward: 'INCOME' } },
  labels: {
    in: ['AIRDROP', 'DONATE', 'GIFT', 'HARDFORK', 'INCOME', 'INTEREST', 'MINING', 'STAKING', 'WAGES'],
    out: [],
    swap: [],
  },
}

const OUT: Preset = {
  ...COMMON,
  file: 'out.csv',
  columns: [
    ...COMMON_COLUMNS,
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

const INTRA: Preset = {
  ...COMMON,
  file: 'intra.csv',
  // A transfer without a fee needs no price.
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

/** Three files: received amounts, sent amounts and fees, and transfers between own wallets. */
export const rp2: MultiFileWriter = {
  ...ABOUT,
  files: [IN, OUT, INTRA],
  isPerWallet: false,
  needsTransactions: false,
  placementsOf: (movements, options) => {
    const rows = labelledRowsOf(movements, options)
    const sent = new Map<string, ImportRow[]>()
    for (const row of rows) {
      const [movement] = row.movements
      if (row.isOwn && movement.isOut)
        sent.set(transferKey(movement), [...(sent.get(transferKey(movement)) ?? []), row])
    }
    return rows.map((row) => placementOf(row, sent))
  },
}

function placementOf(row: ImportRow, sent: ReadonlyMap<string, ImportRow[]>): Placement {
  const [movement] = row.movements
  if (movement.type === 'self')
    return { row, reason: 'a transfer to the same wallet, which changes no balance' }
  if (!row.isOwn) return { row, format: row.kind === 'in' ? IN : OUT }
  const writtenAs = movement.isOut ? undefined : sent.get(transferKey(movement))?.shift()
  return { row, format: INTRA, writtenAs }
}

/** A key that both sides of a transfer between own wallets share. */
function transferKey({ wallet, counterparty, isOut, asset, value, source, via }: Movement): string {
  const [from, to] = isOut ? [wallet, counterparty] : [counterparty, wallet]
  return [from, to, assetKey(asset), value, via ?? source].join('|')
}
