import { type Fields, objectAt, requiredLower, textAt } from './fields.ts'

/** An address party (interface section 2.1): only what the tables have. An empty address means none. */
export type Party = { address: string | null; name: string | null }

/** Throws RejectError where the party is not an object, or its address is not text: who moved value must be known. */
export function partyAt(from: Fields, name: string): Party {
  const party = objectAt(from, name)
  const { address = null } = party
  const isEmpty = address === null || address === ''
  return { address: isEmpty ? null : requiredLower(party, 'address'), name: textAt(party, 'name') }
}
