import { balances } from '../ledger/balances/balances.ts'
import type { TokenNames } from './names/tickers.ts'

/** The reason for omitting its movements, by the contract of each spam token of a chain. */
export type SpamTokens = ReadonlyMap<string, string>

const NO_SPAM: SpamTokens = new Map()

/** `trusted` are the tokens with a ticker, whatever the format. */
type SpamSource = { output: string; chain: string; trusted: TokenNames }

/**
 * Reads the spam tokens of all exports of a conversion, and returns a function that looks up those of a chain. A token is
 * spam in all exports of its chain if it is flagged in one of them. Tokens with a ticker are never spam.
 */
export async function readSpam(
  sources: readonly SpamSource[],
  excludeSpam = false,
): Promise<(chain: string) => SpamTokens> {
  if (!excludeSpam) return () => NO_SPAM
  const rules = new Map<string, Map<string, Set<string>>>()
  for (const { output, chain, trusted } of sources) {
    const ofChain = rules.get(chain) ?? new Map<string, Set<string>>()
    rules.set(chain, ofChain)
    const { flagged } = await balances(output)
    for (const { asset_address: contract, flags } of flagged) {
      if (trusted.has(contract)) continue
      const known = ofChain.get(contract) ?? []
      ofChain.set(contract, new Set([...known, ...flags.map(({ rule }) => rule)]))
    }
  }
  const reasonsOf = (ofChain: ReadonlyMap<string, ReadonlySet<string>>): SpamTokens =>
    new Map([...ofChain].map(([contract, found]) => [contract, `spam: ${[...found].sort().join(', ')}`]))
  const tokens = new Map([...rules].map(([chain, ofChain]) => [chain, reasonsOf(ofChain)]))
  return (chain) => tokens.get(chain) ?? NO_SPAM
}
