import { ExportError } from '../core/model/errors.ts'
import type { Chain } from './chain.ts'
import type { ReplayOptions } from './data-service.ts'
import type { Chains } from './open-chains.ts'
import type { After } from './timers.ts'

export type Replay = {
  /** The chain that grows. */
  readonly chainId: string
  /** Its last block now. */
  head(): number
  /** Lets it grow by some blocks, one after the other, up to its last one; gives the head. */
  advance(blocks: number): Promise<number>
  /** It grows by itself no more. */
  close(): void
}

export type ReplayTools = {
  readonly chains: Chains
  /** Called with the new blocks, rising, once listings show them. */
  readonly onGrown: (chain: Chain, blocks: readonly number[]) => Promise<void>
  readonly after: After
  readonly onError: (thrown: unknown) => void
}

/** Creates the growth of one chain. Fails with `USAGE` where the options make no sense. */
export function createReplay(options: ReplayOptions, tools: ReplayTools): Replay {
  const { chain: chainId = '43114', from = 0, everyMs } = options
  requireWhole(from, 'a replay begins at a block: a whole number')
  requireTime(everyMs)
  requireChain(chainId, tools.chains)
  const growth = createGrowth({ chainId, from }, tools)
  const close = everyMs === undefined ? () => {} : growRegularly(growth, { ...tools, everyMs })
  return { chainId, ...growth, close }
}

type Growth = Pick<Replay, 'head' | 'advance'>

/** Steps wait for each other, so that each block is new once. */
function createGrowth(
  { chainId, from }: { chainId: string; from: number },
  { chains, onGrown }: ReplayTools,
): Growth {
  const state = { head: from, turn: Promise.resolve() }
  const grow = async (blocks: number) => {
    const chain = chains.named(chainId)
    const end = Math.min(state.head + blocks, await chain.last())
    const grown = Array.from({ length: Math.max(0, end - state.head) }, (_, at) => state.head + 1 + at)
    state.head += grown.length
    await onGrown(chain, grown)
    return state.head
  }
  return {
    head: () => state.head,
    async advance(blocks) {
      requireWhole(blocks, 'a chain grows by a whole number of blocks')
      const grown = state.turn.then(() => grow(blocks))
      state.turn = grown.then(ignore, ignore)
      return grown
    },
  }
}

function ignore(): void {}

/** Grows by one block at a time until there is none left; gives what ends it before. */
function growRegularly(
  { head, advance }: Growth,
  { everyMs, after, onError }: ReplayTools & { everyMs: number },
): () => void {
  const state = { closed: false, cancel: () => {} }
  const tick = () => {
    if (state.closed) return
    state.cancel = after(everyMs, () => {
      const before = head()
      advance(1).then((now) => now > before && tick(), onError)
    })
  }
  tick()
  return () => {
    state.closed = true
    state.cancel()
  }
}

function requireTime(everyMs: number | undefined): void {
  if (everyMs === undefined || everyMs > 0) return
  throw new ExportError('USAGE', `a replay needs some time a block, but ${everyMs} ms were given`)
}

function requireChain(chainId: string, { ids }: Chains): void {
  if (ids.includes(chainId)) return
  throw new ExportError('USAGE', `there is no chain ${chainId} to replay: expected one of ${ids.join(', ')}`)
}

function requireWhole(number: number, what: string): void {
  if (!(Number.isSafeInteger(number) && number >= 0)) {
    throw new ExportError('USAGE', `${what}, but ${number} was given`)
  }
}
