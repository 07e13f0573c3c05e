import { COIN_DECIMALS } from './asset.ts'
import { chainOf, wrappedCoinOf } from './chains.ts'
import { WELL_KNOWN_CONTRACTS } from './well-known-contracts.ts'

/**
 * Version of the table. Tickers name assets in accounting programs, so a later version adds contracts but never changes
 * or removes the ticker of one.
 */
export const WELL_KNOWN_TOKENS_VERSION = '2026-11'

export type WellKnownToken = { ticker: string; decimals: number }

/**
 * The well-known tokens of a chain by contract address in lower case: wrapped coins from the table of chains,
 * stablecoins and other major tokens. A ticker stands for one contract of the chain. Of several wrapped coins of a
 * chain, the first has the ticker.
 */
export function wellKnownTokens(chain: string): ReadonlyMap<string, WellKnownToken> {
  const id = chainOf(chain)?.id ?? chain
  const tokens = new Map<string, WellKnownToken>()
  const wrapped = wrappedCoinOf({ chain: id })
  const [contract] = wrapped?.contracts ?? []
  if (wrapped?.symbol != null && contract !== undefined)
    tokens.set(contract, { ticker: wrapped.symbol, decimals: COIN_DECIMALS })
  for (const [ticker, decimals, contract] of WELL_KNOWN_CONTRACTS[id] ?? [])
    tokens.set(contract, { ticker, decimals })
  return tokens
}

/** Contracts of a chain that are known to be genuine: those with a ticker, and all wrapped coins. In lower case. */
export function knownContracts(chain: string): ReadonlySet<string> {
  return new Set([...wellKnownTokens(chain).keys(), ...(wrappedCoinOf({ chain })?.contracts ?? [])])
}
