import { ExportError } from '../errors.ts'
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
  const state = { head: from, turn: Promise.resolve(), stop: () => {}, closed: false }

  const grow = async (blocks: number) => {
    const chain = tools.chains.named(chainId)
    const end = Math.min(state.head + blocks, await chain.last())
    const grown = Array.from({ length: Math.max(0, end - state.head) }, (_, at) => state.head + 1 + at)
    state.head += grown.length
    await tools.onGrown(chain, grown)
    return state.head
  }
  const advance = (blocks: number) => {
    requireWhole(blocks, 'a chain grows by a whole number of blocks')
    const grown = state.turn.then(() => grow(blocks))
    state.turn = grown.then(
      () => {},
      () => {},
    )
    return grown
  }
  const tick = () => {
    if (everyMs === undefined || state.closed) return
    state.stop = tools.after(everyMs, () => {
      const before = state.head
      advance(1).then((head) => head > before && tick(), tools.onError)
    })
  }
  tick()

  return {
    chainId,
    head: () => state.head,
    advance,
    close() {
      state.closed = true
      state.stop()
    },
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
