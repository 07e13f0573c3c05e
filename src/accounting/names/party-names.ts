import type { AddressNames } from '../../read/address-book.ts'
import type { Movement } from '../movement.ts'

/** Sets the names of counterparties, and the labels of wallets that have none in the tables. */
export function nameParties(movements: readonly Movement[], names: AddressNames): void {
  if (names.size === 0) return
  for (const movement of movements) {
    movement.label ??= names.get(movement.wallet) ?? null
    movement.counterpartyName = names.get(movement.counterparty ?? '')
  }
}
