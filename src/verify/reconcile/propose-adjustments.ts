import { chainIdOf } from '../../core/model/chains.ts'
import { isRebasing } from '../../core/model/rebasing-tokens.ts'
import { balances } from '../../ledger/balances/balances.ts'
import { requireManifest } from '../../read/dataset.ts'
import type { ReconcileResult } from './reconcile.ts'

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
 * Proposes adjustments that close each difference. What a rebasing token grew by is divided as `rebased` says. All other
 * differences, and what remains, are at the time of the newest row: when they came about is unknown, so the user divides what
 * concerns several years.
 */
export async function proposeAdjustments(
  output: string,
  { rows, rebased }: Pick<ReconcileResult, 'rows' | 'rebased'>,
): Promise<(string | null)[][]> {
  const differing = rows.filter(({ difference }) => difference !== 0n)
  if (differing.length === 0) return []
  const { job } = await requireManifest(output)
  const chain = chainIdOf(job.chain)
  const { newest } = await balances(output)
  return differing.flatMap((row) => {
    const type = isRebasing(chain, row.asset_address) ? 'rebase' : 'correction'
    const lineOf = (time: string | null, value: bigint, note: string | null) => [
      time,
      chain,
      row.wallet_address,
      row.asset_type,
      row.asset_address,
      row.token_id,
      String(value),
      type,
      note,
      row.asset_symbol,
    ]
    const grown = rebased.filter(
      ({ wallet, contract }) => wallet === row.wallet_address && contract === row.asset_address,
    )
    const rest = grown.reduce((left, { value }) => left - value, row.difference)
    return [
      ...grown.map(({ time, value, block }) => lineOf(time, value, `by the balance after block ${block}`)),
      ...(rest === 0n ? [] : [lineOf(newest?.time ?? null, rest, row.likely_cause)]),
    ]
  })
}
