/** A value from a block on. Lists of them are ascending; before the first entry the value is zero or absent. */
export type Recorded<Value> = readonly (readonly [block: number, value: Value])[]

/** Balances by wallet, in the smallest unit, as decimal text. */
type BalancesByWallet = Readonly<Record<string, Recorded<string>>>

/**
 * The state of a chain after every block, as its node reported it, for a fixed set of wallets. Addresses are in lower
 * case.
 */
export type ChainState = {
  /** Native coin, by wallet. Exactly the wallets of this list have a recorded state. */
  readonly native: BalancesByWallet
  readonly erc20: Readonly<Record<string, Erc20State>>
  readonly erc721: Readonly<Record<string, Erc721State>>
  /** By contract and token id. */
  readonly erc1155: Readonly<Record<string, Readonly<Record<string, BalancesByWallet>>>>
}

type Erc20State = {
  readonly name?: string
  readonly symbol?: string
  readonly decimals?: number
  readonly balances: BalancesByWallet
}

type Erc721State = {
  readonly name?: string
  readonly symbol?: string
  /** Owner by token id. */
  readonly owners: Readonly<Record<string, Recorded<string>>>
}

/** The recorded value after a block; undefined before the first entry. */
export function recordedAt<Value>(recorded: Recorded<Value> | undefined, block: number): Value | undefined {
  return recorded?.findLast(([from]) => from <= block)?.[1]
}
