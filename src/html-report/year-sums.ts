import { AMOUNTS, type AmountName } from '../accounting/statement/flows.ts'
import type { SummedExport, SumOptions } from '../accounting/statement/ledger-sums.ts'
import { decimalsOf, type StatementLine } from '../accounting/statement/ledger-sums.ts'
import { statementsByYear } from '../accounting/statement/statement.ts'
import { isNft } from '../core/model/asset.ts'
import { type Balances, balances } from '../ledger/balances/balances.ts'

/**
 * The columns of a year: `own` is what moved between own wallets, `swapped` and `wrapped` are what came in less what went
 * out. `closing` = `opening` + `received` - `sent` + `swapped` + `wrapped` - `fees`.
 */
export const YEAR_AMOUNTS = [
  'opening',
  'received',
  'sent',
  'own',
  'swapped',
  'wrapped',
  'fees',
  'closing',
] as const
export type YearAmount = (typeof YEAR_AMOUNTS)[number]

/** The column in which an amount of a statement counts, and whether it is subtracted there. */
function columnOf(name: AmountName): { column: YearAmount; isSubtracted: boolean } {
  const column = name.replace(/_(in|out)$/, '') as YearAmount
  return { column, isSubtracted: name.endsWith('_out') }
}

/** An asset in a year, summed over wallets and token ids. */
export type AssetYear = {
  id: string
  symbol: string | null
  /** null if unknown. NFTs are counted in units, even if some of their ids have decimals. */
  decimals: number | null
  /** In the asset's smallest unit. */
  amounts: Record<YearAmount, bigint>
  /** In units of 10^-8 of the currency; null if a price is missing. */
  values: Record<YearAmount, bigint | null>
}

/** The lines of the statements of a year, by asset. */
export type YearSums = { year: string; assets: ReadonlyMap<string, AssetYear> }

/** What an export held after its last row, zero balances included. */
export type Closing = Pick<Balances, 'balances' | 'belowZero' | 'flagged'>

/** Amounts and values that moved between own wallets, by year and asset; `yearKey` is the key. */
export type OwnTransfers = ReadonlyMap<string, { in: OwnSum; out: OwnSum }>
export type OwnSum = { amount: bigint; value: bigint | null }
export const yearKey = (year: string, asset: string): string => `${year} ${asset}`

/**
 * Key of an asset: its chain, and `native`, the address of an ERC-20 token, or the type and address of an NFT collection,
 * because one contract may have tokens of several types.
 */
export const assetId = (chain: string, type: string, address: string | null): string =>
  `${chain} ${address === null ? type : type === 'erc20' ? address : `${type} ${address}`}`

/** Adds the statements of all years of an export to `years`, in one pass over the ledger. */
export async function addYears(
  years: Map<string, Map<string, AssetYear>>,
  output: string,
  { chain, range, ...options }: YearOptions,
): Promise<Closing> {
  const { opening, adjustments, exports, names } = options
  if (range === undefined) return balances(output, { opening, adjustments, exports, names, all: true })
  let atEnd: Closing = { balances: [], belowZero: [], flagged: [] }
  for await (const statement of statementsByYear(output, { ...options, ...range })) {
    const { year, lines, balances: held, belowZero, flagged } = statement
    const assets = years.get(year) ?? new Map<string, AssetYear>()
    years.set(year, assets)
    for (const line of lines) addLine(assets, assetId(chain, line.asset_type, line.asset_address), line)
    atEnd = { balances: held, belowZero, flagged }
  }
  return atEnd
}

type YearOptions = SumOptions &
  Pick<SummedExport, 'exports' | 'ownWallets'> & {
    chain: string
    /** The first and the last year with rows; undefined if there are only opening balances. */
    range: { first: number; last: number } | undefined
  }

function addLine(assets: Map<string, AssetYear>, id: string, line: StatementLine): void {
  const decimals = isNft({ type: line.asset_type }) ? 0 : decimalsOf(line)
  const asset = assets.get(id) ?? { id, symbol: null, decimals, amounts: zeros(), values: zeros() }
  assets.set(id, asset)
  asset.symbol ??= line.asset_symbol
  for (const name of AMOUNTS) {
    const { column, isSubtracted } = columnOf(name)
    const [amount, value] = [line.amounts[name], line.values[name]]
    asset.amounts[column] += isSubtracted ? -amount : amount
    asset.values[column] = addKnown(asset.values[column], isSubtracted && value !== null ? -value : value)
  }
}

/** A sum of values; null if one of them is unknown. */
export const addKnown = (sum: bigint | null, value: bigint | null): bigint | null =>
  sum === null || value === null ? null : sum + value

const subtractKnown = (sum: bigint | null, value: bigint | null): bigint | null =>
  addKnown(sum, value === null ? null : -value)

const zeros = () => Object.fromEntries(YEAR_AMOUNTS.map((name) => [name, 0n])) as Record<YearAmount, bigint>

/** Returns the years, newest first. Statements count transfers between own wallets as received and sent. */
export function finishYears(
  years: ReadonlyMap<string, ReadonlyMap<string, AssetYear>>,
  own: OwnTransfers,
): YearSums[] {
  for (const [year, assets] of years)
    for (const { id, amounts, values } of assets.values()) {
      const moved = own.get(yearKey(year, id))
      // If a side is missing, the other one is not a transfer between the wallets of the report.
      if (moved === undefined || moved.in.amount !== moved.out.amount) continue
      amounts.own = moved.out.amount
      values.own = moved.out.value
      amounts.received -= moved.in.amount
      amounts.sent -= moved.out.amount
      values.received = subtractKnown(values.received, moved.in.value)
      values.sent = subtractKnown(values.sent, moved.out.value)
    }
  return [...years].map(([year, assets]) => ({ year, assets })).sort((a, b) => (a.year < b.year ? 1 : -1))
}
