import { AMOUNTS, type AmountName } from '../accounting/statement/flows.ts'
import { decimalsOf, type StatementLine } from '../accounting/statement/statement-lines.ts'
import { statementsByYear } from '../accounting/statement/yearly-statements.ts'
import { isNft } from '../core/model/asset.ts'
import { type Balances, balances } from '../ledger/balances/balances.ts'
import { aggregateKey } from './ledger-aggregates.ts'

/** The lines of a year's statement, summed over wallets and token ids. */
export type YearSums = {
  year: string
  /** By `aggregateKey`. */
  assets: ReadonlyMap<string, AssetYear>
  /** Values of all assets in units of 10^-8 of the currency; without those that have no price. */
  values: Record<AmountName, bigint>
  /** Assets other than NFTs with an amount that has no price. */
  unpriced: ReadonlySet<string>
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
}

/** Sums the statements of all years with rows, in one pass over the ledger. Throws as `balances` and `statement` do. */
export async function sumYears(
  output: string,
  options: { opening: string | undefined; names: string | undefined; prices: string | undefined },
): Promise<YearlySums> {
  const years: YearSums[] = []
  let atEnd: YearlySums['balances'] | undefined
  for await (const { year, lines, balances, belowZero, flagged } of statementsByYear(output, options)) {
    years.push(sumLines(year, lines))
    atEnd = { balances, belowZero, flagged }
  }
  // Without rows there are only opening balances.
  const { opening, names } = options
  return { years, balances: atEnd ?? (await balances(output, { opening, names, all: true })) }
}

function sumLines(year: string, lines: readonly StatementLine[]): YearSums {
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
  const values = zeros()
  const unpriced = new Set<string>()
  for (const [key, asset] of assets)
    for (const name of AMOUNTS) {
      values[name] += asset.values[name] ?? 0n
      if (asset.values[name] === null && !isNft(asset)) unpriced.add(key)
    }
  return { year, assets, values, unpriced }
}

const newAsset = (line: StatementLine): AssetYear => ({
  ...{ type: line.asset_type, address: line.asset_address, symbol: line.asset_symbol },
  ...{ decimals: isNft({ type: line.asset_type }) ? 0 : decimalsOf(line), amounts: zeros(), values: zeros() },
})

const zeros = (): Record<AmountName, bigint> => ({
  ...{ opening: 0n, received: 0n, sent: 0n, swapped_in: 0n, swapped_out: 0n, wrapped_in: 0n },
  ...{ wrapped_out: 0n, fees: 0n, closing: 0n },
})
