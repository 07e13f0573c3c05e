import { ExportError } from '../core/model/errors.ts'
import type { Chain } from './chain.ts'
import type { ReplayOptions } from './data-service.ts'
import type { Chains } from './open-chains.ts'
import type { ScheduleAfter } from './timers.ts'

export type Replay = {
  /** Id of the growing chain. */
  readonly chainId: string
  /** Number of its current last block. */
  head(): number
  /** Adds up to this number of blocks, as far as the chain has them. Returns the new head. */
  advance(blocks: number): Promise<number>
  /** Stops the periodic growth. */
  close(): void
}

export type ReplayContext = {
  readonly chains: Chains
  /** Called with the new blocks, in ascending order, as soon as listings contain them. */
  readonly onBlocksAdded: (chain: Chain, blocks: readonly number[]) => Promise<void>
  readonly scheduleAfter: ScheduleAfter
  readonly onError: (thrown: unknown) => void
}

/**
 * Creates the replay of one chain.
 *
 * @throws `USAGE` if an option is invalid
 */
export function createReplay(options: ReplayOptions, context: ReplayContext): Replay {
  const { chain: chainId = '43114', from = 0, everyMs } = options
  requireInteger(from, 'the first block of a replay must be a whole number')
  requirePositiveInterval(everyMs)
  requireKnownChain(chainId, context.chains)
  const growth = createGrowth({ chainId, from }, context)
  const close = everyMs === undefined ? () => {} : growPeriodically(growth, { ...context, everyMs })
  return { chainId, ...growth, close }
}

type Growth = Pick<Replay, 'head' | 'advance'>

/** Concurrent steps run one after another, so that each block is added once. */
function createGrowth(
  { chainId, from }: { chainId: string; from: number },
  { chains, onBlocksAdded }: ReplayContext,
): Growth {
  const state = { head: from, lastStep: Promise.resolve() }
  const grow = async (blocks: number) => {
    const chain = chains.get(chainId)
    const end = Math.min(state.head + blocks, await chain.last())
    const newBlocks = Array.from({ length: Math.max(0, end - state.head) }, (_, at) => state.head + 1 + at)
    state.head += newBlocks.length
    await onBlocksAdded(chain, newBlocks)
    return state.head
  }
  return {
    head: () => state.head,
    async advance(blocks) {
      requireInteger(blocks, 'a chain grows by a whole number of blocks')
      const newBlocks = state.lastStep.then(() => grow(blocks))
      state.lastStep = newBlocks.then(noop, noop)
      return newBlocks
    },
  }
}

function noop(): void {}

/** Adds one block per interval until none is left. Returns a function that stops it earlier. */
function growPeriodically(
  { head, advance }: Growth,
  { everyMs, scheduleAfter, onError }: ReplayContext & { everyMs: number },
): () => void {
  const state = { closed: false, cancel: () => {} }
  const tick = () => {
    if (state.closed) return
    state.cancel = scheduleAfter(everyMs, () => {
      const previousHead = head()
      advance(1).then((now) => now > previousHead && tick(), onError)
    })
  }
  tick()
  return () => {
    state.closed = true
    state.cancel()
  }
}

function requirePositiveInterval(everyMs: number | undefined): void {
  if (everyMs === undefined || everyMs > 0) return
  throw new ExportError(
    'USAGE',
    `a replay requires a positive interval per block, but ${everyMs} ms was given`,
  )
}

function requireKnownChain(chainId: string, { ids }: Chains): void {
  if (ids.includes(chainId)) return
  throw new ExportError('USAGE', `there is no chain ${chainId} to replay: expected one of ${ids.join(', ')}`)
}

function requireInteger(number: number, message: string): void {
  if (!(Number.isSafeInteger(number) && number >= 0)) {
    throw new ExportError('USAGE', `${message}, but ${number} was given`)
  }
}
