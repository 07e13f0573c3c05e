import type { FileForm, FileSet, Place } from '../csv/multi-file-writer.ts'
import type { Preset } from '../csv/preset.ts'
import type { Line } from '../import-rows.ts'
import { lineOf } from '../import-rows.ts'

const COMMON = {
  name: 'etherscan',
  title:
    'four files per wallet as downloaded from an Etherscan-like explorer, in the form that BittyTax reads',
  date: 'YYYY-MM-DD HH:mm:ss',
  types: {},
  fee: 'in the fee columns, nothing sold',
  naming: 'ticker',
  numbers: {},
  holdsNfts: true,
  holdsSwaps: false,
  source: 'BittyTax 287c4b4, conv/parsers/etherscan.py',
  rulesOf: '2026-07-17',
  unverified:
    'current headers of explorers: they change often, and these are the newest that BittyTax supported',
} as const

const HEAD: Preset['columns'] = [
  ['Transaction Hash', 'hash'],
  ['Blockno', 'block'],
  ['UnixTimestamp', 'unixTime'],
  ['DateTime (UTC)', 'date'],
]

const TRANSACTIONS: FileForm = {
  ...COMMON,
  file: 'export-{wallet}.csv',
  columns: [
    ...HEAD,
    ['From', 'sender'],
    ['To', 'receiver'],
    ['ContractAddress', 'empty'],
    ['Value_IN({coin})', 'inAmountOrZero'],
    ['Value_OUT({coin})', 'outAmountOrZero'],
    ['CurrentValue/{coin}', 'empty'],
    ['TxnFee({coin})', 'feeAmountOrZero'],
    ['TxnFee(USD)', 'empty'],
    ['Historical $Price/{coin}', 'empty'],
    ['Status', 'failure'],
    ['ErrCode', 'empty'],
    ['Method', 'method'],
  ],
}

const INTERNAL: FileForm = {
  ...COMMON,
  file: 'export-internal-{wallet}.csv',
  repeatsLines: true,
  columns: [
    ...HEAD,
    ['ParentTxFrom', 'sender'],
    ['ParentTxTo', 'receiver'],
    ['ParentTx{coin}_Value', 'coins'],
    ['From', 'from'],
    ['TxTo', 'to'],
    ['ContractAddress', 'empty'],
    ['Value_IN({coin})', 'inAmountOrZero'],
    ['Value_OUT({coin})', 'outAmountOrZero'],
    ['CurrentValue/{coin}', 'empty'],
    ['Historical $Price/{coin}', 'empty'],
    ['Status', 'zero'],
    ['ErrCode', 'empty'],
    ['Type', 'empty'],
  ],
}

const TOKENS: FileForm = {
  ...COMMON,
  file: 'export-token-{wallet}.csv',
  repeatsLines: true,
  columns: [
    ...HEAD,
    ['From', 'from'],
    ['To', 'to'],
    ['TokenValue', 'amount'],
    ['USDValueDayOfTx', 'empty'],
    ['ContractAddress', 'contract'],
    ['TokenName', 'symbol'],
    ['TokenSymbol', 'asset'],
  ],
}

const NFTS: FileForm = {
  ...COMMON,
  file: 'export-nft-{wallet}.csv',
  repeatsLines: true,
  columns: [
    ...HEAD,
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

/** Transactions with their fees, internal ones, ERC-20 tokens and NFTs, each in its file, for every wallet. */
export const etherscan: FileSet = {
  name: COMMON.name,
  title: COMMON.title,
  files: [TRANSACTIONS, INTERNAL, TOKENS, NFTS],
  isPerWallet: true,
  needsTransactions: true,
  placesOf: (movements, { facts }) => {
    const places: Place[] = []
    const whole = new Map<string, { line: Line; form: FileForm }>()
    for (const movement of movements) {
      const { type, source, wallet } = movement
      const line = lineOf(movement, facts)
      const before = whole.get(wallet)
      if (type === 'self') places.push({ line, reason: 'a transfer to oneself, which explorers show once' })
      else if (source !== 'transactions') places.push({ line, form: FORMS[source] ?? TOKENS })
      else if (before !== undefined) before.line = joined(before.line, line)
      else {
        const place = { line, form: TRANSACTIONS }
        whole.set(wallet, place)
        places.push(place)
      }
    }
    return places
  },
  source: COMMON.source,
  rulesOf: COMMON.rulesOf,
  unverified: COMMON.unverified,
}

const FORMS: Readonly<Record<string, FileForm>> = {
  internal_transactions: INTERNAL,
  erc20_transfers: TOKENS,
  erc721_transfers: NFTS,
  erc1155_transfers: NFTS,
}

/** The line of a wallet for the fee of a transaction and the coins that it moved: the fee comes first in the ledger. */
function joined(fee: Line, line: Line): Line {
  return { ...line, fee: fee.out, movements: [...line.movements, ...fee.movements] }
}
