import { type Fields, objectAt, requiredLower, textAt } from '../../fields.ts'

/**
 * A party of a transaction (interface section 2.1), reduced to the columns of the tables. An empty address
 * means none.
 */
export type Party = { address: string | null; name: string | null }

/**
 * Throws RejectError if the party is not an object or its address is not text, because the counterparties of
 * a transfer must be known.
 */
export function partyAt(from: Fields, name: string): Party {
  const party = objectAt(from, name)
  const { address = null } = party
  const isEmpty = address === null || address === ''
  return { address: isEmpty ? null : requiredLower(party, 'address'), name: textAt(party, 'name') }
}
