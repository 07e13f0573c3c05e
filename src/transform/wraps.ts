import type { WrappedCoin } from '../core/model/chains.ts'
import { ENTRY_TYPES } from '../core/model/entry-types.ts'
import type { View } from '../sources/view.ts'
import type { Movement } from './movement.ts'

/** The parts of a movement's transaction that determine whether it wraps or unwraps coins. */
type WrapContext = Pick<View, 'native' | 'erc20'> & { wrappedCoin: WrappedCoin | undefined }

/** Selector of `withdraw(uint256)`. */
const WITHDRAW_ID = '0x2e1a7d4d'
const WITHDRAW_NAMES = new Set(['withdraw(uint256)', 'withdraw'])

/**
 * Adds the other side of wrapping and unwrapping to a movement of the native coin (CONTRACT section 2.5): coins that
 * are sent to the contract of the wrapped coin credit the sender with as many tokens, and coins that the contract pays
 * out in a call of `withdraw` debit the receiver. Sent assets come before received ones.
 */
export function withWraps(coin: Movement, context: WrapContext): Movement[] {
  const { from_address: from, to_address: to } = coin.parties
  const contracts = context.wrappedCoin?.contracts ?? []
  if (from === null || to === null || from === to) return [coin]
  if (contracts.includes(from)) {
    const token = tokenMovement(coin, { context, contract: from, type: 'unwrap' })
    const isUnwrap = coin.source !== 'transactions' && isWithdraw(context.native.row, { contract: from, to })
    return isUnwrap && !hasEvent(token, context) ? [token, coin] : [coin]
  }
  if (!contracts.includes(to)) return [coin]
  const token = tokenMovement(coin, { context, contract: to, type: 'wrap' })
  return hasEvent(token, context) ? [coin] : [coin, token]
}

/**
 * Whether coins that the contract sent to an address can come from that address's call of `withdraw`. The listing names
 * the method of the transaction only. The contract sends coins only to a caller of `withdraw`, so in a transaction
 * to any other address the receiver has called it.
 */
function isWithdraw(
  { from_address, to_address, method_id, method_name }: View['native']['row'],
  { contract, to }: { contract: string; to: string },
): boolean {
  if (to_address !== contract) return true
  if (from_address !== to) return false
  return method_id === null ? WITHDRAW_NAMES.has(method_name ?? '') : method_id === WITHDRAW_ID
}

/** The movement of the token: the parties of the coin's movement change places. */
function tokenMovement(
  { parties, ...coin }: Movement,
  { context, contract, type }: { context: WrapContext; contract: string; type: Movement['type'] },
): Movement {
  return {
    ...coin,
    parties: {
      from_address: parties.to_address,
      from_name: parties.to_name,
      to_address: parties.from_address,
      to_name: parties.from_name,
    },
    asset: {
      ...coin.asset,
      type: 'erc20',
      address: contract,
      symbol: context.wrappedCoin?.symbol ?? null,
    },
    type,
  }
}

/** Whether a Transfer event of the contract credits or debits the wallet by the same value. */
function hasEvent({ type, parties, asset, value }: Movement, { erc20 }: WrapContext): boolean {
  const side = ENTRY_TYPES[type].rowOf === 'receiver' ? 'to_address' : 'from_address'
  return erc20.some(
    (event) =>
      event.token_address === asset.address &&
      event.value === value &&
      event[side] === parties[side] &&
      event.from_address !== event.to_address,
  )
}
