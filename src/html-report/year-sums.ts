import type { ConversionSource } from '../accounting/sources.ts'
import { AMOUNTS, type AmountName } from '../accounting/statement/flows.ts'
import { decimalsOf, type StatementLine, type SumOptions } from '../accounting/statement/ledger-sums.ts'
import {
  openYearStatements,
  type YearStatement,
  type YearStatements,
} from '../accounting/statement/statement.ts'
import { ownWalletsOf } from '../accounting/transactions.ts'
import { isNft } from '../core/model/asset.ts'
import type { Balances } from '../ledger/balances/balances.ts'

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
function columnOf(name: Exclude<AmountName, 'own_in' | 'own_out'>): {
  column: YearAmount
  isSubtracted: boolean
} {
  if (name === 'income') return { column: 'received', isSubtracted: false }
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
  /** What came in from own wallets; `own` is what went out to them. */
  ownIn: { amount: bigint; value: bigint | null }
}

/** The lines of the statements of a year, by asset. */
export type YearSums = { year: string; assets: ReadonlyMap<string, AssetYear> }

/** What an export held after its last row, zero balances included. */
export type Closing = Pick<Balances, 'balances' | 'belowZero' | 'flagged'>

/**
 * Key of an asset: its chain, and `native`, the address of an ERC-20 token, or the type and address of an NFT collection,
 * because one contract may have tokens of several types.
 */
export const assetId = (chain: string, type: string, address: string | null): string =>
  `${chain} ${address === null ? type : type === 'erc20' ? address : `${type} ${address}`}`

/** The sums of assets by id, for each year. */
type Years = Map<string, Map<string, AssetYear>>

/** Sums the statements of the years of an export. */
export type ExportYears = Pick<YearStatements, 'add'> & {
  /** Adds the years up to the last one to `years`. Returns what the export held at the end. Call it after the last row. */
  finish(last: number, years: Years): Closing
}

/** Opens the sums of an export, whose rows must be added in chain order. */
export async function openExportYears(
  { output, chain, opened, exports }: ConversionSource,
  { opening, prices, first }: Pick<SumOptions, 'opening' | 'prices'> & { first: number },
): Promise<ExportYears> {
  const own: Years = new Map()
  let atEnd: Closing = { balances: [], belowZero: [], flagged: [] }
  const onYear = ({ year, lines, balances, belowZero, flagged }: YearStatement) => {
    const assets = new Map<string, AssetYear>()
    own.set(year, assets)
    for (const line of lines) addLine(assets, assetId(chain, line.asset_type, line.asset_address), line)
    atEnd = { balances, belowZero, flagged }
  }
  const ownWallets = ownWalletsOf(chain, exports)
  const { add, close } = await openYearStatements(opened, {
    output,
    exports,
    ownWallets,
    opening,
    prices,
    first,
    onYear,
  })
  return {
    add,
    finish: (last, years) => {
      close(last)
      for (const [year, assets] of own) addYear(years, year, assets)
      return atEnd
    },
  }
}

/** Exports of one chain have the same assets. */
function addYear(years: Years, year: string, added: ReadonlyMap<string, AssetYear>): void {
  const assets = years.get(year) ?? new Map<string, AssetYear>()
  years.set(year, assets)
  for (const [id, asset] of added) {
    const sum = assets.get(id)
    if (sum === undefined) {
      assets.set(id, asset)
      continue
    }
    sum.symbol ??= asset.symbol
    for (const name of YEAR_AMOUNTS) {
      sum.amounts[name] += asset.amounts[name]
      sum.values[name] = addKnown(sum.values[name], asset.values[name])
    }
    addOwn(sum, 'own_in', asset.ownIn)
  }
}

function addLine(assets: Map<string, AssetYear>, id: string, line: StatementLine): void {
  const decimals = isNft({ type: line.asset_type }) ? 0 : decimalsOf(line)
  const asset = assets.get(id) ?? {
    id,
    symbol: null,
    decimals,
    amounts: zeros(),
    values: zeros(),
    ownIn: { amount: 0n, value: 0n },
  }
  assets.set(id, asset)
  asset.symbol ??= line.asset_symbol
  for (const name of AMOUNTS) {
    const [amount, value] = [line.amounts[name], line.values[name]]
    if (name === 'own_in' || name === 'own_out') {
      addOwn(asset, name, { amount, value })
      continue
    }
    const { column, isSubtracted } = columnOf(name)
    asset.amounts[column] += isSubtracted ? -amount : amount
    asset.values[column] = addKnown(asset.values[column], isSubtracted && value !== null ? -value : value)
  }
}

type OwnSum = AssetYear['ownIn']

function addOwn(
  { amounts, values, ownIn }: AssetYear,
  name: 'own_in' | 'own_out',
  { amount, value }: OwnSum,
): void {
  if (name === 'own_in') {
    ownIn.amount += amount
    ownIn.value = addKnown(ownIn.value, value)
  } else {
    amounts.own += amount
    values.own = addKnown(values.own, value)
  }
}

/** A sum of values; null if one of them is unknown. */
const addKnown = (sum: bigint | null, value: bigint | null): bigint | null =>
  sum === null || value === null ? null : sum + value

const zeros = () => Object.fromEntries(YEAR_AMOUNTS.map((name) => [name, 0n])) as Record<YearAmount, bigint>

/** Returns the years, newest first. */
export function finishYears(years: ReadonlyMap<string, ReadonlyMap<string, AssetYear>>): YearSums[] {
  for (const assets of years.values())
    for (const { amounts, values, ownIn } of assets.values()) {
      // If a side is missing, the other one is not a transfer between the wallets of the report.
      if (ownIn.amount === amounts.own) continue
      amounts.received += ownIn.amount
      values.received = addKnown(values.received, ownIn.value)
      amounts.sent += amounts.own
      values.sent = addKnown(values.sent, values.own)
      amounts.own = 0n
      values.own = 0n
    }
  return [...years].map(([year, assets]) => ({ year, assets })).sort((a, b) => (a.year < b.year ? 1 : -1))
}
