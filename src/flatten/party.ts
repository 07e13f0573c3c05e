import { type Fields, lowerAt, objectAt, textAt } from './fields.ts'

/** An address party (interface section 2.1): only what the tables have. An empty address means none. */
export type Party = { address: string | null; name: string | null }

export function partyAt(from: Fields, name: string): Party {
  const party = objectAt(from, name)
  return { address: lowerAt(party, 'address'), name: textAt(party, 'name') }
}
