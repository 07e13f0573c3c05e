import { type ChainInfo, describeChain } from './chain-info.ts'
import { readChoice } from './query.ts'
import type { Call } from './route.ts'

/** Lists the chains, optionally only those of a network or with a feature. */
export function listChains({ query }: Call, ids: readonly string[]): { chains: ChainInfo[] } {
  const network = readChoice(query, 'network', ['mainnet', 'testnet', 'fuji'])
  const feature = readChoice(query, 'feature', ['nftIndexing', 'webhooks', 'teleporter'])
  const chains = ids
    .map(describeChain)
    .filter(({ isTestnet }) => network === null || isTestnet === (network !== 'mainnet'))
    .filter(({ enabledFeatures }) => feature === null || enabledFeatures.includes(feature))
  return { chains }
}
