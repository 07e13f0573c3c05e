import type { NumberRules } from '../format-amount.ts'
import type { LegSide } from '../import-rows.ts'

/** What a cell of a line holds. */
export type Role =
  | 'date'
  | 'type'
  /** Send, Receive or Trade, whatever the type. */
  | 'direction'
  /** Of what came in or went out, or of what a swap gave. */
  | 'amount'
  | 'asset'
  /** Of what a swap took. */
  | 'quoteAmount'
  | 'quoteAsset'
  | 'inAmount'
  | 'inAsset'
  | 'outAmount'
  | 'outAsset'
  | 'feeAmount'
  | 'feeAsset'
  | 'inContract'
  | 'outContract'
  | 'from'
  | 'to'
  | 'wallet'
  | 'chain'
  | 'hash'
  | 'id'
  | 'note'
  | 'empty'
  /** In money, by the prices that the user gives: of a line (what came in, or else what went out), or of one side of it. */
  | 'worth'
  | 'worthCurrency'
  | 'inWorth'
  | 'outWorth'
  | 'feeWorth'
  /** Of one whole unit. */
  | 'price'
  | 'priceCurrency'
  /** 0 where nothing came in, went out or was paid. */
  | 'inAmountOrZero'
  | 'outAmountOrZero'
  | 'feeAmountOrZero'
  | 'holder'
  /** Names of the wallets between which something was moved. */
  | 'fromWallet'
  | 'toWallet'
  | 'block'
  | 'unixTime'
  /** Of the transaction: its sender, receiver, coins, and whether it failed. */
  | 'sender'
  | 'receiver'
  | 'coins'
  | 'failure'
  | 'method'
  | 'zero'
  | 'contract'
  | 'collection'
  | 'symbol'
  | 'tokenId'
  | 'tokenType'

/** How instants are written, all of them in UTC. */
export type DateFormat =
  | 'YYYY-MM-DD HH:mm:ss'
  | 'YYYY-MM-DD HH:mm:ss UTC'
  | 'YYYY-MM-DD HH:mm:ss+00:00'
  | 'YYYY-MM-DDTHH:mm:ssZ'
  | 'YYYY-MM-DDTHH:mm:ss.000Z'
  | 'MM/DD/YYYY HH:mm:ss'
  | 'DD.MM.YYYY HH:mm:ss'
  | 'milliseconds'

/** Types that lines get without labels; absent where the format has no such lines. `own`: between own wallets. */
type Types = {
  in?: string
  out?: string
  ownIn?: string
  ownOut?: string
  fee?: string
  swap?: string
}

/** Where the amount of a fee goes: it is a line of its own, so that the sums of the file are those of the ledger. */
type FeeStyle = 'as what went out' | 'in the fee columns, nothing sold'

/** How assets are called. */
type Naming = 'ticker' | 'caip' | 'placeholder'

/** One format: the converter, the checker and the pages derive from it. */
export type Preset = {
  name: string
  /** The program it is for. */
  title: string
  /** Headers with the role of what stands below them; `{currency}` and `{coin}` stand for the user's. */
  columns: readonly (readonly [header: string, role: Role])[]
  date: DateFormat
  types: Types
  /**
   * Types that labels may give beside those above, by the legs that a line needs for them: a received amount, a sent amount, or
   * both. A type that takes several stands in several lists. Undefined where any text is a type.
   */
  labels?: Readonly<Record<LegSide, readonly string[]>>
  /** Whether lines between own wallets may have a label. @default true */
  labelsOwnTransfers?: boolean
  /** What stands for the wallet in lines of a type, where the program demands it. */
  walletOfType?: Readonly<Record<string, string>>
  fee: FeeStyle
  naming: Naming
  numbers: NumberRules
  /** Whether NFTs have lines, and swaps lines of their own. */
  supportsNfts: boolean
  supportsSwaps: boolean
  /** Whether no line goes without the price of its asset. */
  needsPrices?: boolean
  /** Whether two equal lines may stand for two movements. */
  mayRepeatRows?: boolean
  /** Names of chains by their id, where the program has its own; `other` is that of all others. */
  chainNames?: Readonly<Record<string, string>> & { readonly other: string }
  /** Where the rules come from, and as of when. */
  source: string
  rulesOf: string
  /** What could not be read in the vendor's own words. */
  unverified?: string
}
