import type { EntryType } from '../../core/model/entry-types.ts'
import type { MultiFileWriter, Placement, Preset } from '../csv/preset.ts'
import { type ImportRow, importRowOf } from '../import-rows.ts'

const ABOUT = {
  name: 'etherscan',
  title:
    'four files per wallet as downloaded from an Etherscan-like explorer, in the form that BittyTax reads',
  source: 'BittyTax 287c4b4, conv/parsers/etherscan.py',
  rulesOf: '2026-07-17',
  unverified:
    'current headers of explorers: they change often, and these are the newest that BittyTax supported',
}

const COMMON = {
  ...ABOUT,
  date: 'YYYY-MM-DD HH:mm:ss',
  types: {},
  fee: 'fee columns',
  naming: 'ticker',
  numbers: {},
  supportsNfts: true,
  supportsSwaps: false,
  currency: 'USD',
  equalLines: { handling: 'keep', compares: 'nothing (BittyTax 287c4b4, import_records.py)' },
} as const

const COMMON_COLUMNS: Preset['columns'] = [
  ['Transaction Hash', 'hash'],
  ['Blockno', 'block'],
  ['UnixTimestamp', 'unixTime'],
  ['DateTime (UTC)', 'date'],
]

const TRANSACTIONS: Preset = {
  ...COMMON,
  file: 'export-{wallet}.csv',
  columns: [
    ...COMMON_COLUMNS,
    ['From', 'sender'],
    ['To', 'receiver'],
    ['ContractAddress', 'empty'],
    ['Value_IN({coin})', 'inAmountOrZero'],
    ['Value_OUT({coin})', 'outAmountOrZero'],
    ['CurrentValue/{coin}', 'empty'],
    ['TxnFee({coin})', 'feeAmountOrZero'],
    ['TxnFee(USD)', 'feeWorth'],
    ['Historical $Price/{coin}', 'price'],
    ['Status', 'failure'],
    ['ErrCode', 'empty'],
    ['Method', 'method'],
  ],
}

const INTERNAL: Preset = {
  ...COMMON,
  file: 'export-internal-{wallet}.csv',
  mayRepeatRows: true,
  columns: [
    ...COMMON_COLUMNS,
    ['ParentTxFrom', 'sender'],
    ['ParentTxTo', 'receiver'],
    ['ParentTx{coin}_Value', 'coins'],
    ['From', 'from'],
    ['TxTo', 'to'],
    ['ContractAddress', 'empty'],
    ['Value_IN({coin})', 'inAmountOrZero'],
    ['Value_OUT({coin})', 'outAmountOrZero'],
    ['CurrentValue/{coin}', 'empty'],
    ['Historical $Price/{coin}', 'price'],
    ['Status', 'zero'],
    ['ErrCode', 'empty'],
    ['Type', 'empty'],
  ],
}

const TOKENS: Preset = {
  ...COMMON,
  file: 'export-token-{wallet}.csv',
  mayRepeatRows: true,
  columns: [
    ...COMMON_COLUMNS,
    ['From', 'from'],
    ['To', 'to'],
    ['TokenValue', 'amount'],
    ['USDValueDayOfTx', 'worth'],
    ['ContractAddress', 'contract'],
    ['TokenName', 'symbol'],
    ['TokenSymbol', 'asset'],
  ],
}

const NFTS: Preset = {
  ...COMMON,
  file: 'export-nft-{wallet}.csv',
  mayRepeatRows: true,
  columns: [
    ...COMMON_COLUMNS,
    ['From', 'from'],
    ['To', 'to'],
    ['ContractAddress', 'contract'],
    ['TokenName', 'collection'],
    ['TokenSymbol', 'symbol'],
    ['Token ID', 'tokenId'],
    ['Type', 'tokenType'],
    ['Quantity', 'amount'],
  ],
}

/** Four files per wallet: transactions with fees, internal transactions, ERC-20 transfers and NFT transfers. */
export const etherscan: MultiFileWriter = {
  ...ABOUT,
  files: [TRANSACTIONS, INTERNAL, TOKENS, NFTS],
  isPerWallet: true,
  needsTransactions: true,
  placementsOf: (movements, { transaction }) => {
    const placements: Placement[] = []
    const merged = new Map<string, { row: ImportRow; format: Preset }>()
    for (const movement of movements) {
      const { type, source, wallet, asset } = movement
      const row = importRowOf(movement, transaction)
      const previous = merged.get(wallet)
      const reason = UNLISTED[type]
      if (reason !== undefined) placements.push({ row, reason })
      // The token side of wrapping comes from a table of native coins.
      else if (asset.type === 'erc20') placements.push({ row, format: TOKENS })
      else if (source !== 'transactions') placements.push({ row, format: FORMAT_OF_SOURCE[source] ?? TOKENS })
      else if (previous !== undefined) previous.row = mergeFee(previous.row, row)
      else {
        const placement = { row, format: TRANSACTIONS }
        merged.set(wallet, placement)
        placements.push(placement)
      }
    }
    return placements
  },
}

const UNLISTED: Readonly<Partial<Record<EntryType, string>>> = {
  self: 'a transfer to the same wallet, which explorers list once',
  opening: 'an opening balance, which explorers do not list',
}

const FORMAT_OF_SOURCE: Readonly<Record<string, Preset>> = {
  internal_transactions: INTERNAL,
  // Explorers list them elsewhere, without a file. They move coins without a fee, like internal transactions.
  atomic_transactions: INTERNAL,
  erc721_transfers: NFTS,
  erc1155_transfers: NFTS,
}

/** Adds the fee of a transaction to the row of the coins that it transferred. In the ledger, the fee comes first. */
function mergeFee(fee: ImportRow, row: ImportRow): ImportRow {
  return { ...row, fee: fee.out, movements: [...row.movements, ...fee.movements] }
}
