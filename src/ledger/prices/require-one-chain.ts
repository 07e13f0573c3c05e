import { ExportError } from '../../core/model/errors.ts'

/**
 * Throws USAGE for exports of several chains: a price file names the coin of every chain `native`, so it can be used for one
 * chain only. `result` is what the user makes of the exports, such as `report`.
 */
export function requireOneChain(all: readonly string[], result: string): void {
  const chains = [...new Set(all)]
  if (chains.length <= 1) return
  throw new ExportError(
    'USAGE',
    `a price file applies to one chain, but these exports are of chains ${chains.join(' and ')}`,
    {
      fix: `Write one ${result} per chain, each with the prices of its coin.`,
    },
  )
}
