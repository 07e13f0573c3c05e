import { hash } from 'node:crypto'
import type { Row } from '../core/table/index.ts'
import { shiftDecimal } from './decimal.ts'
import type { Prefix } from './fact-rows.ts'
import type { Movement } from './movements.ts'

/** A map of addresses to labels, as far as it is asked. */
export type WalletLabels = Pick<ReadonlyMap<string, string | null>, 'has' | 'get'>

export type LedgerContext = {
  prefix: Prefix
  methodName: string | null
  /** Label by address of every wallet of the job. */
  wallets: WalletLabels
}

const ZERO = '0x0000000000000000000000000000000000000000'

/** One side of a movement: it leaves a wallet or reaches it. */
type Side = { wallet: string; direction: 'in' | 'out'; movement: Movement }

/** The ledger rows of one transaction: by wallet address, each wallet's rows in the order of the movements. */
export function ledgerRows(movements: readonly Movement[], context: LedgerContext): Row[] {
  const sides: Side[] = []
  for (const movement of movements) addSides(sides, movement, context)
  sides.sort((a, b) => (a.wallet < b.wallet ? -1 : a.wallet > b.wallet ? 1 : 0))
  const rows: Row[] = []
  let [wallet, index] = ['', 0]
  for (const side of sides) {
    index = side.wallet === wallet ? index + 1 : 0
    wallet = side.wallet
    rows.push(rowOf(side, index, context))
  }
  return rows
}

function addSides(sides: Side[], movement: Movement, { wallets }: LedgerContext): void {
  const [from, to] = [movement.from.address, movement.to.address]
  if (from !== null && wallets.has(from)) sides.push({ wallet: from, direction: 'out', movement })
  if (to !== null && wallets.has(to)) sides.push({ wallet: to, direction: 'in', movement })
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
    entryId(`${prefix[0]}|${prefix[4]}|${wallet}|${source}|${movement.index}|${type}|${direction}`),
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

/** First 32 hex digits of the SHA-256 of what tells a row from all others (CONTRACT section 2). */
function entryId(content: string): string {
  return hash('sha256', content).slice(0, 32)
}
