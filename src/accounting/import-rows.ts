import { isNft } from '../core/model/asset.ts'
import { type Asset, assetKey, type Movement } from './movement.ts'

/** Which amounts a row has: a received one, a sent one, or both. A fee is a sent amount. */
export type LegSide = 'in' | 'out' | 'swap'

/** An amount of an asset, in its smallest unit; always positive. */
export type Leg = { asset: Asset; value: bigint }

/**
 * One row of an import file: a received amount, a sent amount, a fee, or a swap of one asset for another. Amounts are exact;
 * `movements` are the ledger rows that the row represents.
 */
export type ImportRow = {
  kind: 'in' | 'out' | 'fee' | 'swap'
  /** Whether the counterparty is a wallet of the job too. */
  isOwn: boolean
  in: Leg | undefined
  out: Leg | undefined
  movements: readonly [Movement, ...Movement[]]
  /** Number of equal rows that were merged into this one. @default 1 */
  mergedRows?: number
  /** The type or account that the user's labels assign to the row. */
  label: string | undefined
  /** Explorer formats only: the fee that shares the row with the amount, and the summary of the transaction. */
  fee?: Leg | undefined
  transaction?: TransactionSummary | undefined
}

/** What explorer formats show of a transaction, from the transactions table. */
export type TransactionSummary = {
  sender: string | null
  receiver: string | null
  /** Native coins that the transaction transferred, in the smallest unit. */
  value: bigint
  isFailed: boolean
}

/** Returns the user's label for a row. */
export type Labels = (row: ImportRow) => string | undefined

/**
 * Returns the rows for the movements of one wallet in one transaction, in ledger order, without labels. With
 * `pairsSwaps`, a swap becomes one row, placed after the fee.
 */
export function importRowsOf(movements: readonly Movement[], pairsSwaps: boolean): ImportRow[] {
  const pairedSwap = pairsSwaps ? pairSwap(movements) : undefined
  const unpaired = pairedSwap === undefined ? movements : movements.filter(({ type }) => type === 'fee')
  const rows = unpaired.map((movement) => importRowOf(movement))
  return pairedSwap === undefined ? rows : [...rows, pairedSwap]
}

/** Sets the user's labels on the rows. */
export function withLabels(rows: ImportRow[], labelOf: Labels): ImportRow[] {
  for (const row of rows) row.label = labelOf(row)
  return rows
}

/** Returns the row of one movement. `transaction` is needed for explorer formats only. */
export function importRowOf(movement: Movement, transaction?: TransactionSummary | undefined): ImportRow {
  const { type, isOut, isOwn, asset, value } = movement
  const leg = { asset, value }
  return {
    kind: type === 'fee' ? 'fee' : isOut ? 'out' : 'in',
    isOwn: isOwn || type === 'self',
    in: isOut ? undefined : leg,
    out: isOut ? leg : undefined,
    movements: [movement],
    label: undefined,
    fee: undefined,
    transaction,
  }
}

/**
 * Detects a swap: net of refunds and without the fee, exactly one asset was sent and one received. Both are fungible,
 * and no movement is between own wallets. A mint, burn, wrap, unwrap, import or export rules a swap out, because the
 * token is then a receipt, a wrapped coin or a pool share, or the coin stays the wallet's own.
 */
function pairSwap(movements: readonly Movement[]): ImportRow | undefined {
  if (movements.length < 2 || movements.some(preventsSwap)) return undefined
  const [first, ...others] = movements.filter(({ type }) => type !== 'fee')
  if (first === undefined || others.every(({ isOut }) => isOut === first.isOut)) return undefined
  const nets = new Map<string, { asset: Asset; value: bigint }>()
  for (const { asset, value, isOut } of [first, ...others]) {
    const key = assetKey(asset)
    nets.set(key, { asset, value: (nets.get(key)?.value ?? 0n) + (isOut ? -value : value) })
  }
  const legs = [...nets.values()].filter(({ value }) => value !== 0n)
  const [sent, received] = [legs.find(({ value }) => value < 0n), legs.find(({ value }) => value > 0n)]
  if (legs.length !== 2 || sent === undefined || received === undefined) return undefined
  return {
    kind: 'swap',
    isOwn: false,
    in: received,
    out: { asset: sent.asset, value: -sent.value },
    movements: [first, ...others],
    label: undefined,
  }
}

function preventsSwap({ asset, type, isOwn }: Movement): boolean {
  return isNft(asset) || isOwn || (type !== 'transfer' && type !== 'fee')
}
