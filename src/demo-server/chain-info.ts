import type { JsonObject } from './json.ts'
import type { Operation } from './operation.ts'
import { readChoice } from './parameters.ts'
import { PORTFOLIO_CHAIN } from './portfolio-prices.ts'

/** A chain in the format of the chains endpoint. `rpcUrl` is empty because there is no node. */
export type ChainInfo = JsonObject & {
  readonly chainId: string
  readonly isTestnet: boolean
  readonly networkToken: NetworkToken
  readonly enabledFeatures: readonly string[]
}

type NetworkToken = { readonly name: string; readonly symbol: string; readonly decimals: number }

/** Lists the chains, optionally only those of a network or with a feature. */
export const listChains: Operation = ({ query }, { chains }) => {
  const network = readChoice(query, 'network', ['mainnet', 'testnet', 'fuji'])
  const feature = readChoice(query, 'feature', ['nftIndexing', 'webhooks', 'teleporter'])
  const listed = chains.ids
    .map(describeChain)
    .filter(({ isTestnet }) => network === null || isTestnet === (network !== 'mainnet'))
    .filter(({ enabledFeatures }) => feature === null || enabledFeatures.includes(feature))
  return { chains: listed }
}

export const showChain: Operation = ({ path }, { chains }) => describeChain(chains.get(path.chainId).id)

/** Describes a chain. Of a chain that comes from the options, only the id is known. */
export function describeChain(chainId: string): ChainInfo {
  const { chainName, description, networkToken } = KNOWN_CHAINS[chainId] ?? {
    chainName: `Chain ${chainId}`,
    description: 'A chain from the options of this service.',
    networkToken: { name: 'Native coin', symbol: 'COIN', decimals: 18 },
  }
  return {
    chainId,
    status: 'OK',
    chainName,
    description,
    vmName: 'EVM',
    rpcUrl: '',
    isTestnet: chainId !== '1',
    networkToken,
    enabledFeatures: ['nftIndexing', 'webhooks'],
  }
}

const KNOWN_CHAINS: Record<string, { chainName: string; description: string; networkToken: NetworkToken }> = {
  43114: {
    chainName: 'Demo chain 43114',
    description:
      'A local chain of 421 blocks, driven by real contracts. It is not the public chain of that id.',
    networkToken: { name: 'Avalanche', symbol: 'AVAX', decimals: 18 },
  },
  [PORTFOLIO_CHAIN]: {
    chainName: 'Demo portfolio',
    description: 'Two made-up years of the wallets of one person. It is not the public chain of that id.',
    networkToken: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  },
  1: {
    chainName: 'Ethereum',
    description: 'Blocks 17173049 and 17173050 of Ethereum mainnet.',
    networkToken: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  },
}
