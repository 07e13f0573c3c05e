import { createHash } from 'node:crypto'
import type { Row } from '../table/index.ts'
import { shiftDecimal } from './decimal.ts'
import type { Prefix } from './fact-rows.ts'
import type { Movement } from './movements.ts'

export type LedgerContext = {
  prefix: Prefix
  methodName: string | null
  /** Label by address of every wallet of the job. */
  wallets: ReadonlyMap<string, string | null>
}

const ZERO = '0x0000000000000000000000000000000000000000'

/** One side of a movement: it leaves a wallet or reaches it. */
type Side = { wallet: string; direction: 'in' | 'out'; movement: Movement }

/** The ledger rows of one transaction: by wallet address, each wallet's rows in the order of the movements. */
export function ledgerRows(movements: readonly Movement[], context: LedgerContext): Row[] {
  const byWallet = new Map<string, Side[]>()
  for (const side of movements.flatMap((movement) => sidesOf(movement, context))) {
    const sides = byWallet.get(side.wallet)
    if (sides === undefined) byWallet.set(side.wallet, [side])
    else sides.push(side)
  }
  const wallets = [...byWallet.keys()].sort()
  return wallets.flatMap((wallet) =>
    (byWallet.get(wallet) ?? []).map((side, index) => rowOf(side, index, context)),
  )
}

function sidesOf(movement: Movement, { wallets }: LedgerContext): Side[] {
  const sides: Side[] = []
  const { from, to } = movement
  if (from.address !== null && wallets.has(from.address))
    sides.push({ wallet: from.address, direction: 'out', movement })
  if (to.address !== null && wallets.has(to.address))
    sides.push({ wallet: to.address, direction: 'in', movement })
  return sides
}

function rowOf(
  { wallet, direction, movement }: Side,
  index: number,
  { prefix, methodName, wallets }: LedgerContext,
): Row {
  const { asset, source } = movement
  const type = entryType(movement)
  const value = direction === 'out' ? `-${movement.value}` : movement.value
  const other = direction === 'out' ? movement.to : movement.from
  return [
    ...prefix,
    entryId([prefix[0], prefix[4], wallet, source, movement.index, type, direction]),
    wallet,
    wallets.get(wallet) ?? null,
    index,
    type,
    direction,
    other.address,
    other.name,
    other.address !== null && wallets.has(other.address),
    asset.type,
    asset.address,
    asset.symbol,
    asset.decimals,
    asset.tokenId,
    value,
    shiftDecimal(value, asset.decimals),
    methodName,
    source,
  ]
}

function entryType({ isFee, from, to }: Movement): string {
  if (isFee) return 'fee'
  if (from.address === to.address) return 'self'
  if (from.address === ZERO) return 'mint'
  return to.address === ZERO ? 'burn' : 'transfer'
}

/** First 32 hex digits of the SHA-256 of the parts joined by `|` (CONTRACT section 2). */
function entryId(parts: readonly unknown[]): string {
  return createHash('sha256').update(parts.join('|')).digest('hex').slice(0, 32)
}
