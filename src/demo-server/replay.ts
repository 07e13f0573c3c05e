import { ExportError } from '../core/model/errors.ts'
import type { Chain, Chains } from './chains.ts'
import type { DataServiceOptions } from './data-service.ts'
import { scheduleWithTimer } from './timers.ts'

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

/**
 * Creates the replay of one chain.
 *
 * @param onBlocksAdded called with the new blocks, in ascending order, as soon as listings contain them
 * @throws `USAGE` if an option is invalid
 */
export function createReplay(
  options: DataServiceOptions,
  chains: Chains,
  onBlocksAdded: (chain: Chain, blocks: readonly number[]) => Promise<void>,
): Replay {
  const { replay: { chain: chainId = '43114', from = 0, everyMs } = {} } = options
  requireInteger(from, 'the first block of a replay must be a whole number')
  if (everyMs !== undefined && !(everyMs > 0))
    throw usageError(`a replay requires a positive interval per block, but ${everyMs} ms was given`)
  if (!chains.ids.includes(chainId))
    throw usageError(`there is no chain ${chainId} to replay: expected one of ${chains.ids.join(', ')}`)
  let head = from
  let lastStep: Promise<unknown> = Promise.resolve()
  const grow = async (blocks: number) => {
    const chain = chains.get(chainId)
    const end = Math.min(head + blocks, await chain.last())
    const newBlocks = Array.from({ length: Math.max(0, end - head) }, (_, at) => head + 1 + at)
    head += newBlocks.length
    await onBlocksAdded(chain, newBlocks)
    return head
  }
  /** Concurrent steps run one after another, so that each block is added once. */
  const advance = async (blocks: number) => {
    requireInteger(blocks, 'a chain grows by a whole number of blocks')
    const step = lastStep.then(() => grow(blocks))
    lastStep = step.catch(() => {})
    return step
  }
  const addBlock = async () => {
    const before = head
    return (await advance(1)) > before
  }
  const close = everyMs === undefined ? () => {} : repeat(addBlock, everyMs, options)
  return { chainId, head: () => head, advance, close }
}

/** Repeats a step at an interval until it returns false or fails. Returns a function that stops it earlier. */
function repeat(
  step: () => Promise<boolean>,
  everyMs: number,
  { scheduleAfter = scheduleWithTimer, onInternalError = () => {} }: DataServiceOptions,
): () => void {
  let isClosed = false
  let cancel = () => {}
  const schedule = () => {
    if (isClosed) return
    cancel = scheduleAfter(everyMs, () => {
      step().then((goesOn) => goesOn && schedule(), onInternalError)
    })
  }
  schedule()
  return () => {
    isClosed = true
    cancel()
  }
}

function requireInteger(number: number, message: string): void {
  if (!(Number.isSafeInteger(number) && number >= 0)) throw usageError(`${message}, but ${number} was given`)
}

function usageError(message: string): ExportError {
  return new ExportError('USAGE', message)
}
