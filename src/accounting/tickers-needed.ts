import { shiftDecimal } from '../core/platform/decimal.ts'
import { openExport, requireLedger } from '../read/open-export.ts'
import type { Movement } from './movement.ts'
import { safeText } from './names/asset-name.ts'
import { readContracts } from './names/contracts.ts'
import { readTickers } from './names/tickers.ts'
import type { ConvertOptions } from './options.ts'
import { parsePeriod } from './period.ts'
import { NO_SPAM, readSpam } from './spam.ts'
import { transactionsOf } from './transactions.ts'
import { FORMAT_NAMES, usesIdentifiers } from './writers.ts'

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
 * Lists the ERC-20 tokens of an export that have no ticker, those with the most movements first.
 *
 * @param output - the folder of the export
 * @param options - the period, the tickers that are known already, and whether spam is excluded
 * @throws ExportError with the code USAGE as `convert` does
 * @example
 * ```ts
 * const missing = await tickersNeeded('output/mine', { excludeSpam: true })
 * ```
 */
export async function tickersNeeded(
  output: string,
  options: Pick<ConvertOptions, 'from' | 'until' | 'tickers' | 'builtinTickers' | 'excludeSpam'> = {},
): Promise<TickerNeeded[]> {
  const period = parsePeriod(options.from, options.until)
  const opened = await openExport(output)
  try {
    requireLedger(opened.manifest, output, 'conversions are made from')
    const { job } = opened.manifest
    const tickers = await readTickers(options, { job, programs: FORMAT_NAMES, usesIdentifiers })
    const contracts = await readContracts(opened, tickers)
    const spam = options.excludeSpam ? await readSpam(output, tickers) : NO_SPAM
    const totals = new Map<string, Total>()
    for await (const movements of transactionsOf(opened, { period, contracts }))
      for (const movement of movements) if (!spam.has(movement.asset.address ?? '')) add(totals, movement)
    return [...totals.values()].map(toTickerNeeded).sort(byMovements)
  } finally {
    await opened.close()
  }
}

type Total = { chain: string; contract: string; asset: Movement['asset']; movements: number; value: bigint }

function add(totals: Map<string, Total>, { chain, asset, value }: Movement): void {
  const { type, address: contract, ticker } = asset
  if (type !== 'erc20' || contract === null || ticker !== undefined) return
  const total = totals.get(contract) ?? { chain, contract, asset, movements: 0, value: 0n }
  total.movements += 1
  total.value += value
  totals.set(contract, total)
}

function toTickerNeeded({ chain, contract, asset, movements, value }: Total): TickerNeeded {
  const volume = shiftDecimal(String(value), asset.decimals)
  return { chain, contract, symbol: safeText(asset.symbol ?? ''), movements, volume }
}

const byMovements = (a: TickerNeeded, b: TickerNeeded) =>
  b.movements - a.movements || (a.contract < b.contract ? -1 : 1)
