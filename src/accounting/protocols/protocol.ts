/**
 * What a call is for: a deposit to a pool or lending protocol or a withdrawal from one, a payment whose refunds are part of it, or a
 * claim of income.
 */
type CallKind = 'deposit' | 'withdrawal' | 'payment' | Income

/** A kind of income that is received by a claim. */
export type Income = 'airdrop' | 'reward'

export type MethodRule = {
  /** The name of the method without parameters, ignoring case; `*` at its end stands for any text. */
  method: string
  /**
   * Contracts by chain id. One of them is the counterparty of a movement of the transaction, or the contract of its token.
   * @default any contract
   */
  contracts?: Readonly<Record<string, readonly string[]>>
  kind: CallKind
  /** Whether shares of a pool may be transferred, instead of minted or burned. @default false */
  transfersShares?: boolean
}

/** The methods of a protocol that have one meaning only. Any other call counts as plain receipts and disposals. */
export type Protocol = {
  name: string
  /** Where the contracts are documented. */
  source: string
  methods: readonly MethodRule[]
}
