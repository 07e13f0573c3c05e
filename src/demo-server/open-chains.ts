import type { Block, Chain, ChainItems } from './chain.ts'
import { collectBlocks, indexBlocks } from './collect-blocks.ts'
import type { DataServiceOptions } from './data-service.ts'
import { HttpError } from './http-error.ts'
import { indexItems } from './index-items.ts'
import type { JsonObject } from './json.ts'
import { once } from './once.ts'
import { readBlocks, readTransactions } from './read-chain.ts'

export type Chains = {
  readonly ids: readonly string[]
  /** The chain with this id; refuses with 404 an unknown one. */
  get(id: string): Chain
}

/** Opens the chains of the demo and those of the options, which win; none is loaded yet. */
export function openChains({ chains = {} }: DataServiceOptions, headOf: (id: string) => number): Chains {
  const opened = new Map<string, Chain>()
  const register = (id: string, loaded: LoadedChain) => opened.set(id, { head: () => headOf(id), ...loaded })
  for (const shipped of EMBEDDED_CHAINS) register(shipped.id, shipped)
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

/** A chain that consists of nothing but transactions: a block without any is unknown. */
function openItems(id: string, read: () => Promise<readonly JsonObject[]>): LoadedChain {
  const items = once(async () => indexItems(await read(), { dropsEmptyInOddBlocks: false }))
  return openBlocks(id, { items, blocks: once(async () => collectBlocks(await items())) })
}

type ChainParts = { items: () => Promise<ChainItems>; blocks: () => Promise<readonly Block[]> }

function openBlocks(id: string, { items, blocks }: ChainParts): LoadedChain {
  const index = once(async () => indexBlocks(await blocks()))
  return {
    id,
    items,
    block: async (block) => (await index()).get(block),
    last: async () => (await blocks()).at(-1)?.number ?? -1,
  }
}

/**
 * Chains under `chains/`, read once a process, however many services there are. The first has a list of its blocks, empty
 * ones too; the second one's blocks are derived.
 */
const EMBEDDED_CHAINS: readonly LoadedChain[] = [
  openBlocks('43114', {
    items: once(async () => indexItems(await readTransactions('43114'), { dropsEmptyInOddBlocks: true })),
    blocks: once(() => readBlocks('43114')),
  }),
  openItems('1', () => readTransactions('1')),
]
