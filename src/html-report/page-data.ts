/** The JSON data that a report page contains for its script. Numbers that refer to a list are indexes, -1 for none. */

/** Amounts: an index of an asset and an exact amount in turns. */
export type PackedAmounts = (number | string)[]

/** What happened, as far as the chain shows it. The messages have a sentence for each kind. */
export type EventKind =
  | 'received'
  | 'sent'
  | 'moved'
  | 'swapped'
  | 'wrapped'
  | 'unwrapped'
  | 'deposited'
  | 'withdrew'
  | 'minted'
  | 'burned'
  | 'imported'
  | 'exported'
  | 'self'
  | 'approved'
  | 'called'
  | 'failed'
  | 'opening'

export type PackedEvent = [
  kind: EventKind,
  wallet: number,
  party: number,
  received: PackedAmounts,
  sent: PackedAmounts,
  fee: PackedAmounts,
  method: string,
  /** Fiat value, or empty. */
  value: string,
]

export type PackedRow = [wallet: number, type: string, amount: string, asset: number, party: number]

export type PackedEntry = [
  /** Unix time in seconds. */
  time: number,
  chain: number,
  /** Empty for opening balances. */
  transaction: string,
  events: PackedEvent[],
  rows: PackedRow[],
]

/** Transactions in chain order. */
export type ActivityData = {
  /** `explorer` is the address of its explorer, or empty. */
  chains: { name: string; explorer: string }[]
  parties: [address: string, name: string][]
  assets: [symbol: string, contract: string, chain: number][]
  /** Of the values; empty without prices. */
  currency: string
  entries: PackedEntry[]
}
