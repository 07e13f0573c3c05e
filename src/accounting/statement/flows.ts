import { acceptsSwapIn, importRowsOf, isWrap } from '../import-rows.ts'
import type { Asset, Movement } from '../movement.ts'

/** The flows between the opening and the closing balance of a statement, in the order of its columns. */
export const FLOWS = [
  'received',
  'sent',
  'own_in',
  'own_out',
  'income',
  'swapped_in',
  'swapped_out',
  'wrapped_in',
  'wrapped_out',
  'fees',
] as const
export type FlowName = (typeof FLOWS)[number]

/** Whether a flow increases the balance. */
export const isInflow = (name: FlowName): boolean =>
  name === 'received' || name === 'income' || name.endsWith('_in')

/** An amount that counts in one of the flows; never negative. */
export type Flow = { name: FlowName; asset: Asset; value: bigint }

/**
 * Returns the flows of one wallet's movements in one transaction. Swaps are those that conversions write as one line by
 * default. They, and deposits to pools, count net of refunds. Wraps are the token of a wrap or unwrap and the coins that were
 * wrapped or unwrapped. `own` is what moved between own wallets.
 */
export function flowsOf(movements: readonly Movement[]): Flow[] {
  return importRowsOf(movements, ACCEPTS_SWAP).flatMap((row) => {
    const { kind, in: received, out: sent } = row
    if (kind === 'fee') return legFlows('fees', sent)
    if (row.isWrap || isWrap(row.movements[0]))
      return legFlows('wrapped_out', sent).concat(legFlows('wrapped_in', received))
    if (kind === 'swap') return legFlows('swapped_in', received).concat(legFlows('swapped_out', sent))
    const [inflow, outflow] = row.isOwn ? (['own_in', 'own_out'] as const) : (['received', 'sent'] as const)
    return legFlows(row.income === undefined ? inflow : 'income', received).concat(legFlows(outflow, sent))
  })
}

const ACCEPTS_SWAP = acceptsSwapIn('pair', () => true)

const legFlows = (name: FlowName, leg: { asset: Asset; value: bigint } | undefined): Flow[] =>
  leg === undefined ? [] : [{ name, ...leg }]

/** The amounts of a statement, in the order of its columns. */
export const AMOUNTS = ['opening', ...FLOWS, 'closing'] as const
export type AmountName = (typeof AMOUNTS)[number]
