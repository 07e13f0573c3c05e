import type { NumberRules } from '../format-amount.ts'
import {
  type ImportRow,
  isReceivedMove,
  type LegSide,
  POOL_MOVES,
  type PoolMove,
  type RowOptions,
  type TransactionSummary,
} from '../import-rows.ts'
import type { Movement } from '../movement.ts'
import type { CoinIds } from '../names/names.ts'
import type { Income } from '../protocols/protocol.ts'

/** The content of a column. */
export type Role =
  | 'date'
  | 'type'
  /** Send, Receive or Trade, regardless of the type. */
  | 'direction'
  /** The received or sent amount; the received amount of a swap. */
  | 'amount'
  | 'asset'
  /** The sent amount of a swap. */
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
  /**
   * Fiat values at the user's prices: of the row (the received amount, or else the sent amount), or of one of its
   * amounts.
   */
  | 'worth'
  | 'worthCurrency'
  | 'inWorth'
  | 'outWorth'
  | 'feeWorth'
  /** The price of one whole unit. */
  | 'price'
  | 'priceCurrency'
  /** As inAmount, outAmount and feeAmount, but 0 instead of an empty cell. */
  | 'inAmountOrZero'
  | 'outAmountOrZero'
  | 'feeAmountOrZero'
  | 'holder'
  /** Names of the sending and the receiving wallet. */
  | 'fromWallet'
  | 'toWallet'
  | 'block'
  | 'unixTime'
  /** Of the transaction: its sender, its receiver, the native coins that it transferred, and whether it failed. */
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

/** Formats of instants. All are in UTC. */
export type DateFormat =
  | 'YYYY-MM-DD HH:mm:ss'
  | 'YYYY-MM-DD HH:mm:ss UTC'
  | 'YYYY-MM-DD HH:mm:ss+00:00'
  | 'YYYY-MM-DDTHH:mm:ssZ'
  | 'YYYY-MM-DDTHH:mm:ss.000Z'
  | 'MM/DD/YYYY HH:mm:ss'
  | 'DD.MM.YYYY HH:mm:ss'
  | 'milliseconds'

/**
 * Default types of rows without a label; absent if the format has no such rows. `ownIn` and `ownOut` are for transfers
 * between own wallets.
 */
type Types = {
  in?: string
  out?: string
  ownIn?: string
  ownOut?: string
  fee?: string
  swap?: string
  /** Received amounts that a wallet held before the export. @default that of `in` */
  opening?: string
  /** The type that exchanges a coin for its wrapped token without a sale. Without it, a wrap is two rows. */
  wrap?: string
  /** The types of amounts in deposits to pools and in withdrawals. Without one, an amount has its usual type. */
  pool?: Readonly<Partial<Record<PoolMove, string>>>
  /** The types of income that is claimed from a known protocol. @default the type of `in` */
  income?: Readonly<Partial<Record<Income, string>>>
}

/** Lines that are equal except for their description, although they stand for different movements. */
type EqualLines = {
  /**
   * `merge`: the program could take them for duplicates, so they become one line with their sum. `distinguish`: a column with
   * an id distinguishes them. `keep`: the program imports all of them. `unpair`: only the first of equal swaps is one line
   * of this file; those after it are two lines of another.
   */
  handling: 'merge' | 'distinguish' | 'keep' | 'unpair'
  /** What the program compares to find duplicates, with the source of this. */
  compares: string
  /** Columns that it does not compare, besides the description. @default none */
  ignored?: readonly Role[]
}

/** How the program counts a fee in the fee columns of a row that has other amounts. */
type AttachedFees = {
  /** Whether attached fees are the default, because the program's own import of wallets attaches them. */
  isDefault: boolean
  /** Whether a row whose assets are others may have the fee in its fee columns, in addition to its amounts. */
  ofOtherAssets: boolean
  /**
   * A fee in an asset of the row: `beside` the amounts, or `included` in the sent amount, of a swap or only of what is sent. Without
   * it, the fee has a row of its own.
   */
  ofSameAsset?: 'beside' | 'included' | 'included if sent'
  source: string
}

/** Whether the program compares a column to find duplicates. */
export const isCompared = ({ equalLines: { ignored = [] } }: Preset, role: Role): boolean =>
  role !== 'note' && !ignored.includes(role)

/** The format of one CSV file. The converter, the checker and the documentation are derived from it. */
export type Preset = {
  name: string
  /** The name of the program. */
  title: string
  /** The name of the file in a format of several files. `{wallet}` stands for the address of the wallet. */
  file?: string
  /** Headers and roles of the columns. `{currency}` and `{coin}` in headers are replaced (`headersOf`). */
  columns: readonly (readonly [header: string, role: Role])[]
  date: DateFormat
  types: Types
  /**
   * Further types that labels may assign, by the amounts that a row needs for them: a received amount, a sent amount,
   * or both. A type can be in several lists. Undefined if any text is a valid type.
   */
  labels?: Readonly<Record<LegSide, readonly string[]>>
  /** Whether transfers between own wallets may have a label. @default true */
  labelsOwnTransfers?: boolean
  /** Characters that the program does not accept in names of wallets, with the flag `g`. They are left out. */
  excludedFromWallets?: RegExp
  /** Wallet names that the program requires in rows of certain types. */
  walletOfType?: Readonly<Record<string, string>>
  /**
   * The columns for the amount of a fee: those of a sent amount, or the fee columns with a sent amount of 0. A fee
   * has its own row (except in explorer formats), so that the sums of the file equal those of the ledger.
   */
  fee: 'sent amount' | 'fee columns'
  /** Fees that are attached to other rows. @default the program has no such fees, or does not document them */
  attachedFees?: AttachedFees
  /** How assets are named: symbol and contract digits, CAIP-19 identifier, or numbered placeholder. */
  naming: 'ticker' | 'caip' | 'placeholder'
  /**
   * Only with CAIP-19 identifiers: those of native coins. A coin without one is omitted unless the user's file of tickers
   * gives one.
   */
  coinIds?: CoinIds
  numbers: NumberRules
  /** Whether the format has rows for NFTs; `erc721` if it has none for ERC-1155 tokens. */
  supportsNfts: boolean | 'erc721'
  /** Whether a swap can be one row. */
  supportsSwaps: boolean
  equalLines: EqualLines
  /** The currency of the program's values, if it has only one. */
  currency?: string
  /** Whether every row needs the price of its asset. */
  needsPrices?: boolean
  /** Whether the program stops if more of an asset is sent than was received. */
  rejectsNegativeBalances?: boolean
  /** Whether two equal rows can represent two movements, so that the checker does not report duplicates. */
  mayRepeatRows?: boolean
  /** Whether people read the file, so that it may also be a workbook. */
  isForPeople?: boolean
  /** The program's names of chains by chain id; `other` is used for all other chains. */
  chainNames?: Readonly<Record<string, string>> & { readonly other: string }
  /** The source of the rules, and their date. */
  source: string
  rulesOf: string
  /** Rules that could not be verified in the vendor's own documentation. */
  unverified?: string
}

/** What most programs have in common. */
export const USUAL = {
  fee: 'sent amount',
  naming: 'ticker',
  numbers: {},
  supportsNfts: false,
  supportsSwaps: true,
  equalLines: { handling: 'merge', compares: 'not documented; assumed: all columns but the description' },
} as const satisfies Partial<Preset>

/** The types for received amounts, sent amounts and swaps that many programs share. */
export const TRANSFERS = { in: 'Deposit', out: 'Withdrawal', swap: 'Trade' }

/** An import format that consists of several files with different columns. */
export type MultiFileWriter = Pick<Preset, 'name' | 'title' | 'source' | 'rulesOf' | 'unverified'> & {
  files: readonly Preset[]
  /** Whether each wallet has its own set of files. */
  isPerWallet: boolean
  /** Whether rows contain columns that only the transactions table has. */
  needsTransactions: boolean
  /** Assigns the movements of one transaction to files, in ledger order. */
  placementsOf(movements: readonly Movement[], options: PlacementOptions): Placement[]
}

export type PlacementOptions = RowOptions & { transaction: TransactionSummary | undefined }

/**
 * The file that a row belongs to, or the `reason` why it is omitted. `writtenAs` is set for the second side of a transfer
 * between own wallets: the row of the first side, which represents both.
 */
export type Placement = { row: ImportRow } & (
  | { format: Preset; writtenAs?: ImportRow | undefined }
  | { reason: string }
)

/** Returns the headers of a preset's columns. `{currency}` defaults to GBP, `{coin}` to COIN. */
export function headersOf({ columns }: Preset, currency = 'GBP', coin = ''): string[] {
  const symbol = coin.replace(/\W/g, '') || 'COIN'
  return columns.map(([header]) => header.replace('{currency}', currency).replace('{coin}', symbol))
}

/** Whether a text matches a column's header with any currency and coin. */
export function isHeader(text: string | undefined, header: string): boolean {
  const pattern = header.replace(/[$()]/g, '\\$&').replace(/\{(currency|coin)\}/g, '\\w+')
  return text !== undefined && new RegExp(`^${pattern}$`).test(text)
}

/** The types of a program that labels may assign. */
export type ProgramTypes = {
  sides: TypeSides
  /** Whether any other text is a valid type too. Such a type applies to rows with any amounts. */
  acceptsAnyText: boolean
  /** Whether transfers between own wallets may have a label. */
  labelsOwnTransfers: boolean
}

/** The sides that each type applies to. */
export type TypeSides = ReadonlyMap<string, ReadonlySet<LegSide>>

/** Returns the types of a preset with the sides that each applies to. */
export function typeSides({ types, labels, supportsSwaps }: Preset): TypeSides {
  const defaultTypes: (readonly [side: LegSide, type: string | undefined])[] = [
    ['in', types.in],
    ['in', types.ownIn],
    ['in', types.opening],
    ['out', types.out],
    ['out', types.ownOut],
    ['out', types.fee],
    ['swap', supportsSwaps ? types.swap : undefined],
    ['swap', types.wrap],
    ['in', types.income?.airdrop],
    ['in', types.income?.reward],
    ...POOL_MOVES.map((move) => [isReceivedMove(move) ? 'in' : 'out', types.pool?.[move]] as const),
  ]
  const sides = new Map<string, Set<LegSide>>()
  const add = (side: LegSide, type: string) => sides.set(type, (sides.get(type) ?? new Set()).add(side))
  for (const [side, type] of defaultTypes) if (type !== undefined) add(side, type)
  for (const side of LEG_SIDES) for (const type of labels?.[side] ?? []) add(side, type)
  return sides
}

const LEG_SIDES = ['in', 'out', 'swap'] as const

/** Combines the types of all files of a program. */
export function programTypes(presets: readonly Preset[]): ProgramTypes {
  const sides = new Map<string, ReadonlySet<LegSide>>()
  for (const preset of presets)
    for (const [type, sidesOfType] of typeSides(preset))
      sides.set(type, new Set([...(sides.get(type) ?? []), ...sidesOfType]))
  return {
    sides,
    acceptsAnyText: presets.some(({ labels }) => labels === undefined),
    labelsOwnTransfers: presets.every(({ labelsOwnTransfers = true }) => labelsOwnTransfers),
  }
}

/** Describes the amounts of rows with these sides in words. */
export function describeSides(sides: ReadonlySet<LegSide>): string {
  return [...sides].map((side) => SIDE_TEXT[side]).join(' or ')
}

const SIDE_TEXT: Readonly<Record<LegSide, string>> = {
  in: 'a received amount and no sent amount',
  out: 'a sent amount and no received amount',
  swap: 'both a received and a sent amount',
}
