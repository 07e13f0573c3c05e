import type { Wallet } from '../../core/model/model.ts'
import type { Complain } from '../diagnostics.ts'
import { type Place, quoted, showPlace } from '../resolve/raw-value.ts'

/** The wallets so far, by address in lower case, each with the place that names it. */
export type Roster = Map<string, { readonly wallet: Wallet; readonly place: Place }>

export type Entry = {
  readonly field: string
  readonly place: Place
  /** 0x and 40 hex digits, in any letter case. */
  readonly address: string
  readonly label: string | null
}

/** Adds a wallet; an address that is there already, in whatever letter case, is complained of. */
export function enroll(roster: Roster, entry: Entry, complain: Complain): void {
  const address = entry.address.toLowerCase()
  const first = roster.get(address)
  if (first === undefined) {
    roster.set(address, { wallet: { address, label: entry.label }, place: entry.place })
    return
  }
  const expected = `each address once (first at ${showPlace(first.place)})`
  complain({ place: entry.place, field: entry.field, found: `${quoted(entry.address)} again`, expected })
}

/** The wallets in order of their addresses, so that no list's order matters. */
export function walletsOf(roster: Roster): readonly Wallet[] {
  return [...roster.values()]
    .map(({ wallet }) => wallet)
    .sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0))
}

export const LABEL_CHARACTERS = 256
