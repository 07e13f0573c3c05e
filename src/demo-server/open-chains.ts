import type { ChainState } from './balances/chain-state.ts'
import { baseFeesOf } from './base-fees.ts'
import type { Block, Chain, ChainItems } from './chain.ts'
import { collectBlocks, indexBlocks } from './collect-blocks.ts'
import type { DataServiceOptions } from './data-service.ts'
import { HttpError } from './http-error.ts'
import { indexItems } from './index-items.ts'
import type { JsonObject } from './json.ts'
import { once } from './once.ts'
import { readAtomicTransactions, readBlocks, readState, readTransactions } from './read-chain.ts'

export type Chains = {
  readonly ids: readonly string[]
  /** Returns the chain with this id. Throws `HttpError` 404 if it is unknown. */
  get(id: string): Chain
}

/** Opens the embedded chains and those of the options, which take precedence, without loading them. */
export function openChains({ chains = {} }: DataServiceOptions, headOf: (id: string) => number): Chains {
  const opened = new Map<string, Chain>()
  const register = (id: string, loaded: LoadedChain) => opened.set(id, { head: () => headOf(id), ...loaded })
  for (const embedded of EMBEDDED_CHAINS) register(embedded.id, embedded)
  for (const [id, items] of Object.entries(chains))
    register(
      id,
      openItems(id, async () => items),
    )
  const ids = [...opened.keys()]

  return {
    ids,
    get(id) {
      const chain = opened.get(id)
      if (chain) return chain
      throw new HttpError(
        404,
        `chain ${JSON.stringify(id)} is not served here: expected one of ${ids.join(', ')}.`,
      )
    },
  }
}

type LoadedChain = Omit<Chain, 'head'>

/** Opens a chain from its transactions only, so blocks without transactions are unknown. */
function openItems(id: string, read: () => Promise<readonly JsonObject[]>): LoadedChain {
  const items = once(async () => indexItems(await read(), { dropsEmptyInOddBlocks: false }))
  return openBlocks(id, { items, blocks: once(async () => collectBlocks(await items())) })
}

type ChainParts = {
  items: () => Promise<ChainItems>
  blocks: () => Promise<readonly Block[]>
  state?: () => Promise<ChainState>
  atomic?: () => Promise<readonly JsonObject[]>
}

function openBlocks(id: string, { items, blocks, state, atomic }: ChainParts): LoadedChain {
  const index = once(async () => indexBlocks(await blocks()))
  const fees = once(async () => baseFeesOf(await blocks()))
  return {
    id,
    items,
    baseFee: async (block) => (await fees()).get(block),
    block: async (block) => (await index()).get(block),
    last: async () => (await blocks()).at(-1)?.number ?? -1,
    state: async () => state?.(),
    atomic: async () => (await atomic?.()) ?? [],
  }
}

/**
 * Chains under `chains/`, read once per process and shared by all services. The first one has a list of its blocks,
 * including empty ones, and recorded balances; the blocks of the second one are derived from its transactions.
 */
const EMBEDDED_CHAINS: readonly LoadedChain[] = [
  openBlocks('43114', {
    items: once(async () => indexItems(await readTransactions('43114'), { dropsEmptyInOddBlocks: true })),
    blocks: once(() => readBlocks('43114')),
    state: once(() => readState('43114')),
    atomic: once(() => readAtomicTransactions('43114')),
  }),
  openItems('1', () => readTransactions('1')),
]
