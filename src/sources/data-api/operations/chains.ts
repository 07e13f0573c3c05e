import type { Chain } from '../resources.ts'
import {
  type Call,
  type CallOptions,
  malformedResponse,
  type PathSegment,
  parseBody,
  path,
  queryOf,
  readObject,
} from './call.ts'

/** Filters for the list of chains. Known services support these two; the interface defines none. */
export type ChainsQuery = {
  /** Chains of this network only, like `mainnet`. @default all */
  network?: string | undefined
  /** Chains with this feature only. @default all */
  feature?: string | undefined
}

export type ChainOperations = {
  /**
   * Lists the supported chains. The interface names the endpoint (section 1) without its shape: both a bare
   * list and one under `chains` are accepted. A service without the endpoint responds with 404.
   */
  listChains(query?: ChainsQuery, options?: CallOptions): Promise<Chain[]>
  /** Gets one chain by its id. Beyond the interface: a service may respond with 404. */
  getChain(query: { chainId: PathSegment }, options?: CallOptions): Promise<Chain>
}

/** Creates the operations on chains. */
export function chainOperations(call: Call): ChainOperations {
  return {
    listChains: async (query = {}, options) => call(chainsSpec(query), readChains, options),
    getChain: async (query, options) => call(chainSpec(query), readObject<Chain>, options),
  }
}

function chainsSpec({ network, feature }: ChainsQuery) {
  return {
    method: 'GET' as const,
    pathAndQuery: `/v1/chains${queryOf({ network, feature })}`,
    description: 'list of chains',
  }
}

function chainSpec({ chainId }: { chainId: PathSegment }) {
  return {
    method: 'GET' as const,
    pathAndQuery: path`/v1/chains/${chainId}`,
    description: `chain ${chainId}`,
  }
}

function readChains(body: Buffer): Chain[] {
  const parsed = parseBody(body)
  const chains = Array.isArray(parsed) ? parsed : (parsed as { chains?: unknown } | null | undefined)?.chains
  if (!Array.isArray(chains)) throw malformedResponse('has no list of chains', body)
  return chains as Chain[]
}
