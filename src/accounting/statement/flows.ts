import { importRowsOf } from '../import-rows.ts'
import type { Asset, Movement } from '../movement.ts'

/** The flows between the opening and the closing balance of a statement, in the order of its columns. */
export const FLOWS = [
  'received',
  'sent',
  'swapped_in',
  'swapped_out',
  'wrapped_in',
  'wrapped_out',
  'fees',
] as const
export type FlowName = (typeof FLOWS)[number]

/** Whether a flow increases the balance. */
export const isInflow = (name: FlowName): boolean => name === 'received' || name.endsWith('_in')

/** An amount that counts in one of the flows; never negative. */
export type Flow = { name: FlowName; asset: Asset; value: bigint }

/**
 * Returns the flows of one wallet's movements in one transaction. Swaps are those that conversions write as one line, and
 * count net of refunds. Wraps are the token of a wrap or unwrap and the coins that were wrapped or unwrapped.
 */
export function flowsOf(movements: readonly Movement[]): Flow[] {
  const wraps = findWraps(movements)
  return importRowsOf(movements, () => true).flatMap(
    ({ kind, in: received, out: sent, movements: [movement] }) => {
      if (kind === 'swap') return legFlows('swapped_in', received).concat(legFlows('swapped_out', sent))
      if (kind === 'fee') return legFlows('fees', sent)
      const isWrap = wraps.has(movement)
      return kind === 'in'
        ? legFlows(isWrap ? 'wrapped_in' : 'received', received)
        : legFlows(isWrap ? 'wrapped_out' : 'sent', sent)
    },
  )
}

const legFlows = (name: FlowName, leg: { asset: Asset; value: bigint } | undefined): Flow[] =>
  leg === undefined ? [] : [{ name, ...leg }]

const NO_WRAPS: ReadonlySet<Movement> = new Set()

/**
 * Finds the movements of wraps and unwraps: each row of the token, and the row of the coin that it was added for, which
 * has the same value and source, the opposite direction, and the contract as its counterparty.
 */
function findWraps(movements: readonly Movement[]): ReadonlySet<Movement> {
  const tokens = movements.filter(({ type }) => type === 'wrap' || type === 'unwrap')
  if (tokens.length === 0) return NO_WRAPS
  const found = new Set(tokens)
  for (const token of tokens) {
    const coin = movements.find(
      (movement) =>
        movement.asset.type === 'native' &&
        movement.type === 'transfer' &&
        movement.counterparty === token.asset.address &&
        movement.isOut !== token.isOut &&
        movement.value === token.value &&
        movement.source === token.source &&
        !found.has(movement),
    )
    if (coin !== undefined) found.add(coin)
  }
  return found
}

/** The amounts of a statement, in the order of its columns. */
export const AMOUNTS = ['opening', ...FLOWS, 'closing'] as const
export type AmountName = (typeof AMOUNTS)[number]
