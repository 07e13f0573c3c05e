import { type ChainCard, describeChain } from './chain-info.ts'
import { readWord } from './query.ts'
import type { Call } from './route.ts'

/** Answers the chains endpoint: every chain, or those of a network or with a feature. */
export function listChains({ query }: Call, ids: readonly string[]): { chains: ChainCard[] } {
  const network = readWord(query, 'network', ['mainnet', 'testnet', 'fuji'])
  const feature = readWord(query, 'feature', ['nftIndexing', 'webhooks', 'teleporter'])
  const chains = ids
    .map(describeChain)
    .filter(({ isTestnet }) => network === null || isTestnet === (network !== 'mainnet'))
    .filter(({ enabledFeatures }) => feature === null || enabledFeatures.includes(feature))
  return { chains }
}
