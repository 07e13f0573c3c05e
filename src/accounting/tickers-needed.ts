import { shiftDecimal } from '../core/platform/decimal.ts'
import { type Outputs, withSources } from './conversion-sources.ts'
import type { Movement } from './movement.ts'
import { safeText } from './names/asset-name.ts'
import type { ConvertOptions } from './options.ts'
import { parsePeriod } from './period.ts'
import { readSpam } from './spam.ts'
import { transactionsOf } from './transactions.ts'

/** A token that conversions name by its symbol and digits of its contract, because it has no ticker. */
export type TickerNeeded = {
  /** Chain id. */
  chain: string
  contract: string
  /** The sanitized symbol; empty if the token has none. */
  symbol: string
  /** Number of movements. */
  movements: number
  /** Everything received and sent, in whole units; null if the decimals are unknown. */
  volume: string | null
}

/**
 * Lists the ERC-20 tokens of exports that have no ticker, those with the most movements first.
 *
 * @param outputs - the folder of the export, or the folders of several
 * @param options - the period, the tickers that are known already, and whether spam is excluded
 * @throws ExportError with the code USAGE as `convert` does
 * @example
 * ```ts
 * const missing = await tickersNeeded('output/mine', { excludeSpam: true })
 * ```
 */
export async function tickersNeeded(
  outputs: Outputs,
  options: Pick<ConvertOptions, 'from' | 'until' | 'tickers' | 'builtinTickers' | 'excludeSpam'> = {},
): Promise<TickerNeeded[]> {
  const period = parsePeriod(options.from, options.until)
  return withSources(outputs, options, async (sources) => {
    const totals = new Map<string, Total>()
    const spamOf = await readSpam(sources, options.excludeSpam)
    for (const { opened, chain, contracts } of sources) {
      const spam = spamOf(chain)
      for await (const movements of transactionsOf(opened, { period, contracts }))
        for (const movement of movements) if (!spam.has(movement.asset.address ?? '')) add(totals, movement)
    }
    return [...totals.values()].map(toTickerNeeded).sort(byMovements)
  })
}

type Total = { chain: string; contract: string; asset: Movement['asset']; movements: number; value: bigint }

function add(totals: Map<string, Total>, { chain, asset, value }: Movement): void {
  const { type, address: contract, ticker } = asset
  if (type !== 'erc20' || contract === null || ticker !== undefined) return
  const key = `${chain}|${contract}`
  const total = totals.get(key) ?? { chain, contract, asset, movements: 0, value: 0n }
  total.movements += 1
  total.value += value
  totals.set(key, total)
}

function toTickerNeeded({ chain, contract, asset, movements, value }: Total): TickerNeeded {
  const volume = shiftDecimal(String(value), asset.decimals)
  return { chain, contract, symbol: safeText(asset.symbol ?? ''), movements, volume }
}

const byMovements = (a: TickerNeeded, b: TickerNeeded) =>
  b.movements - a.movements || (`${a.contract} ${a.chain}` < `${b.contract} ${b.chain}` ? -1 : 1)
