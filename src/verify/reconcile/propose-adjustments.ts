import { chainIdOf } from '../../core/model/chains.ts'
import { isRebasing } from '../../core/model/rebasing-tokens.ts'
import { balances } from '../../ledger/balances/balances.ts'
import { requireManifest } from '../../read/dataset.ts'
import type { ReconciledBalance } from './verdict.ts'

/** The columns of a file for `--adjustments`, and the symbol for people. */
export const ADJUSTMENT_COLUMNS = [
  'time',
  'chain',
  'wallet_address',
  'asset_type',
  'asset_address',
  'token_id',
  'value',
  'type',
  'note',
  'asset_symbol',
]

/**
 * Proposes an adjustment for each difference: what closes it, at the time of the newest row. When a difference came about is
 * unknown, so the user divides what concerns several years.
 */
export async function proposeAdjustments(
  output: string,
  rows: readonly ReconciledBalance[],
): Promise<(string | null)[][]> {
  const differing = rows.filter(({ difference }) => difference !== 0n)
  if (differing.length === 0) return []
  const { job } = await requireManifest(output)
  const chain = chainIdOf(job.chain)
  const { newest } = await balances(output)
  return differing.map((row) => [
    newest?.time ?? null,
    chain,
    row.wallet_address,
    row.asset_type,
    row.asset_address,
    row.token_id,
    String(row.difference),
    isRebasing(chain, row.asset_address) ? 'rebase' : 'correction',
    row.likely_cause,
    row.asset_symbol,
  ])
}
