import { AMOUNTS, type AmountName } from '../accounting/statement/flows.ts'
import { decimalsOf, type StatementLine } from '../accounting/statement/ledger-sums.ts'
import { statementsByYear } from '../accounting/statement/statement.ts'
import { isNft } from '../core/model/asset.ts'
import { type Balances, balances } from '../ledger/balances/balances.ts'
import type { ChainWallets, OpeningOption } from '../ledger/balances/read-opening.ts'
import { aggregateKey } from './ledger-aggregates.ts'

/** The lines of a year's statement, summed over wallets and token ids. */
export type YearSums = {
  year: string
  /** By `aggregateKey`. */
  assets: ReadonlyMap<string, AssetYear>
  /** The value of the closing balances in units of 10^-8 of the currency; null if none has a price. Without suspicious tokens. */
  closing: bigint | null
  /** Number of assets with an amount that has no price. Without NFTs and suspicious tokens. */
  unpriced: number
}

/** An asset in a year. */
export type AssetYear = {
  type: string
  address: string | null
  symbol: string | null
  /** null if unknown. NFTs are counted in units, even if some of their ids have decimals. */
  decimals: number | null
  /** In the asset's smallest unit. */
  amounts: Record<AmountName, bigint>
  /** In units of 10^-8 of the currency; null if a price is missing. */
  values: Record<AmountName, bigint | null>
}

/** What the statements of all years show, and the balances after the last row, zero balances included. */
export type YearlySums = {
  years: readonly YearSums[]
  balances: Pick<Balances, 'balances' | 'belowZero' | 'flagged'>
  /** The contracts of the flagged tokens, which no total of values includes. */
  suspicious: ReadonlySet<string>
}

export type YearSumOptions = {
  /** Opening balances, held before the first row. @default those that are known */
  opening?: OpeningOption
  /** All exports that a file of opening balances is about. @default this one */
  exports?: readonly ChainWallets[] | undefined
  /** CSV file with the columns `address` and `name`, for wallets without a label and counterparties. */
  names?: string | undefined
  /** CSV file of prices, in the format of `convert`. */
  prices?: string | undefined
}

/** Sums the statements of all years with rows, in one pass over the ledger. Throws as `balances` and `statement` do. */
export async function sumYears(output: string, options: YearSumOptions): Promise<YearlySums> {
  const years: Pick<YearSums, 'year' | 'assets'>[] = []
  let atEnd: YearlySums['balances'] | undefined
  for await (const { year, lines, balances, belowZero, flagged } of statementsByYear(output, options)) {
    years.push({ year, assets: sumLines(lines) })
    atEnd = { balances, belowZero, flagged }
  }
  // Without rows there are only opening balances.
  const { opening, exports, names } = options
  const last = atEnd ?? (await balances(output, { opening, exports, names, all: true }))
  const suspicious = new Set(last.flagged.map(({ asset_address }) => asset_address))
  return { years: years.map((one) => ({ ...one, ...valuesOf(one, suspicious) })), balances: last, suspicious }
}

function sumLines(lines: readonly StatementLine[]): YearSums['assets'] {
  const assets = new Map<string, AssetYear>()
  for (const line of lines) {
    const key = aggregateKey(line.asset_type, line.asset_address)
    const asset = assets.get(key) ?? newAsset(line)
    assets.set(key, asset)
    asset.symbol ??= line.asset_symbol
    for (const name of AMOUNTS) {
      asset.amounts[name] += line.amounts[name]
      const [sum, value] = [asset.values[name], line.values[name]]
      asset.values[name] = sum === null || value === null ? null : sum + value
    }
  }
  return assets
}

function valuesOf(
  { assets }: Pick<YearSums, 'assets'>,
  suspicious: ReadonlySet<string>,
): Pick<YearSums, 'closing' | 'unpriced'> {
  const counted = [...assets.values()].filter(({ address }) => !suspicious.has(address ?? ''))
  const priced = counted.filter(({ amounts, values }) => amounts.closing !== 0n && values.closing !== null)
  const isUnpriced = (asset: AssetYear) =>
    !isNft(asset) && AMOUNTS.some((name) => asset.values[name] === null)
  return {
    closing:
      priced.length === 0 ? null : priced.reduce((sum, { values }) => sum + (values.closing ?? 0n), 0n),
    unpriced: counted.filter(isUnpriced).length,
  }
}

const newAsset = (line: StatementLine): AssetYear => ({
  type: line.asset_type,
  address: line.asset_address,
  symbol: line.asset_symbol,
  decimals: isNft({ type: line.asset_type }) ? 0 : decimalsOf(line),
  amounts: zeros(),
  values: zeros(),
})

const zeros = (): Record<AmountName, bigint> => ({
  opening: 0n,
  received: 0n,
  sent: 0n,
  swapped_in: 0n,
  swapped_out: 0n,
  wrapped_in: 0n,
  wrapped_out: 0n,
  fees: 0n,
  closing: 0n,
})
