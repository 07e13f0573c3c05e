import { NATIVE } from '../../ledger/prices/prices.ts'
import type { PriceNeeded } from '../needed.ts'

/** The names of a chain in interfaces that state prices. */
type MarketIds = {
  /** In DefiLlama's `chain:contract`. */
  defillama: string
  /** The asset platform of CoinGecko. */
  coingecko: string
  /** The native coin in CoinGecko, whose ids DefiLlama knows too. */
  coin: string
}

/** By chain id. The chains of core/model/chains.ts, without test networks, whose assets have no price. */
const BY_CHAIN: Readonly<Record<string, MarketIds>> = {
  1: { defillama: 'ethereum', coingecko: 'ethereum', coin: 'ethereum' },
  10: { defillama: 'optimism', coingecko: 'optimistic-ethereum', coin: 'ethereum' },
  25: { defillama: 'cronos', coingecko: 'cronos', coin: 'crypto-com-chain' },
  56: { defillama: 'bsc', coingecko: 'binance-smart-chain', coin: 'binancecoin' },
  100: { defillama: 'xdai', coingecko: 'xdai', coin: 'xdai' },
  137: { defillama: 'polygon', coingecko: 'polygon-pos', coin: 'polygon-ecosystem-token' },
  146: { defillama: 'sonic', coingecko: 'sonic', coin: 'sonic-3' },
  204: { defillama: 'op_bnb', coingecko: 'opbnb', coin: 'binancecoin' },
  324: { defillama: 'era', coingecko: 'zksync', coin: 'ethereum' },
  1284: { defillama: 'moonbeam', coingecko: 'moonbeam', coin: 'moonbeam' },
  5000: { defillama: 'mantle', coingecko: 'mantle', coin: 'mantle' },
  8453: { defillama: 'base', coingecko: 'base', coin: 'ethereum' },
  42161: { defillama: 'arbitrum', coingecko: 'arbitrum-one', coin: 'ethereum' },
  42170: { defillama: 'arbitrum_nova', coingecko: 'arbitrum-nova', coin: 'ethereum' },
  42220: { defillama: 'celo', coingecko: 'celo', coin: 'celo' },
  43114: { defillama: 'avax', coingecko: 'avalanche', coin: 'avalanche-2' },
  59144: { defillama: 'linea', coingecko: 'linea', coin: 'ethereum' },
  81457: { defillama: 'blast', coingecko: 'blast', coin: 'ethereum' },
  534352: { defillama: 'scroll', coingecko: 'scroll', coin: 'ethereum' },
  7777777: { defillama: 'zora', coingecko: 'zora-network', coin: 'ethereum' },
}

/** Until this day the coin of Polygon was MATIC, which POL replaced one to one. */
const POL_DAY = '2024-09-04'

/** The coin of a price, or a contract on a chain of `market`; undefined for a chain that the table does not have. */
export function marketAssetOf(
  { chain, asset, date }: PriceNeeded,
  market: 'defillama' | 'coingecko',
): { coin: string } | { chain: string; contract: string } | undefined {
  const ids = BY_CHAIN[chain]
  if (ids === undefined) return undefined
  if (asset !== NATIVE) return { chain: ids[market], contract: asset }
  return { coin: chain === '137' && date < POL_DAY ? 'matic-network' : ids.coin }
}
