import type { Chain } from '../resources/chain.ts'
import type { Call, CallOptions } from './call.ts'
import { path, queryOf, type Segment } from './path.ts'
import { malformed, parse, readObject } from './read-response.ts'

/** Which chains to list; services know these two, the interface none. */
export type ChainsQuery = {
  /** Chains of this network only, like `mainnet`. @default all */
  network?: string | undefined
  /** Chains with this feature only. @default all */
  feature?: string | undefined
}

export type ChainOperations = {
  /**
   * Lists the supported chains. The interface names the endpoint (section 1) without its shape: a list by itself is
   * read as well as one under `chains`, and a service without the endpoint answers 404.
   */
  listChains(query?: ChainsQuery, options?: CallOptions): Promise<Chain[]>
  /** Gets one chain by its id; beyond the interface, a service may not offer it and answer 404. */
  getChain(query: { chainId: Segment }, options?: CallOptions): Promise<Chain>
}

/** The operations that tell of chains. */
export function chainOperations(call: Call): ChainOperations {
  return {
    listChains: async (query = {}, options) => call(askChains(query), readChains, options),
    getChain: async (query, options) => call(askChain(query), readObject<Chain>, options),
  }
}

function askChains({ network, feature }: ChainsQuery) {
  return {
    method: 'GET' as const,
    pathAndQuery: `/v1/chains${queryOf({ network, feature })}`,
    about: 'list of chains',
  }
}

function askChain({ chainId }: { chainId: Segment }) {
  return { method: 'GET' as const, pathAndQuery: path`/v1/chains/${chainId}`, about: `chain ${chainId}` }
}

function readChains(body: Buffer): Chain[] {
  const answer = parse(body)
  const chains = Array.isArray(answer) ? answer : (answer as { chains?: unknown } | null | undefined)?.chains
  if (!Array.isArray(chains)) throw malformed('has no list of chains', body)
  return chains as Chain[]
}
