import { isNft } from '../core/model/asset.ts'
import { type Asset, assetKey, type Movement } from './movement.ts'

/** Which amounts a line has: a received one, a sent one, or both. A fee is sent. */
export type LegSide = 'in' | 'out' | 'swap'

/** An amount of an asset, in its smallest unit, above zero. */
export type Leg = { asset: Asset; value: bigint }

/**
 * What becomes one line of a file: something that came in or went out, a fee, or a swap of one asset for another. Sides are
 * exact; `movements` are the rows of the ledger that it stands for.
 */
export type ImportRow = {
  kind: 'in' | 'out' | 'fee' | 'swap'
  /** The other party is a wallet of the job too. */
  isOwn: boolean
  in: Leg | undefined
  out: Leg | undefined
  movements: readonly [Movement, ...Movement[]]
  /** The type or account that the user's labels give to the line. */
  label: string | undefined
  /** For explorers' files: what stands in the same line as fee, and the transaction itself. */
  fee?: Leg | undefined
  transaction?: TransactionFacts | undefined
}

/** What the table of transactions says of one. */
export type TransactionFacts = {
  sender: string | null
  receiver: string | null
  /** Coins that it moved, in the smallest unit. */
  value: bigint
  isFailed: boolean
}

/** Gives the user's labels to lines. */
export type Labels = (line: ImportRow) => string | undefined

/**
 * The lines of what one wallet did in one transaction, in the order of the ledger, without labels. With `pairsSwaps`, what it
 * swapped becomes one line.
 */
export function importRowsOf(movements: readonly Movement[], pairsSwaps: boolean): ImportRow[] {
  const pairedSwap = pairsSwaps ? pairSwap(movements) : undefined
  const unpaired = pairedSwap === undefined ? movements : movements.filter(({ type }) => type === 'fee')
  const rows = unpaired.map((movement) => importRowOf(movement))
  return pairedSwap === undefined ? rows : [...rows, pairedSwap]
}

/** The lines with the user's labels. */
export function withLabels(rows: ImportRow[], labelOf: Labels): ImportRow[] {
  for (const row of rows) row.label = labelOf(row)
  return rows
}

/** The line of one movement; `transaction` is for explorers' files. */
export function importRowOf(movement: Movement, transaction?: TransactionFacts | undefined): ImportRow {
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
 * A swap: net and without the fee exactly one asset went out and one came in, both fungible, neither minted to nor burned by
 * the wallet (that is a receipt, a wrapped coin or a share of a pool), and nothing of it between own wallets.
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
  return isNft(asset) || isOwn || type === 'mint' || type === 'burn' || type === 'self'
}
