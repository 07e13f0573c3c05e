import type { WritePool } from '../../src/assemble/threads/pool.ts'
import type { Slice, SliceRows } from '../../src/assemble/write-slice.ts'
import type { BlockRange } from '../../src/core/model.ts'
import type { Spool } from '../../src/spool/spool.ts'
import { emptyState, listingOf, notePage, settledBy } from '../../src/spool/state.ts'

/** A page without content: its size, the blocks of its items, and the blocks that it settles. */
export type Received = {
  wallet: string
  bytes: number
  blocks: { min: number; max: number }
  covered: BlockRange
}

/** The state of a checkpoint without its file; offsets count the pages. */
export function memorySpool(
  endBlock: number,
): Pick<Spool, 'settled' | 'frames'> & { receive(page: Received): void } {
  const state = emptyState({ chain: '1', startBlock: 0, endBlock, finalityMs: 0 }, 0)
  state.session = 1
  return {
    settled: (listings) => settledBy(state, listings),
    frames: (listings) => [...listings.keys()].flatMap((name) => listingOf(state, name).frames),
    receive: ({ bytes, ...page }) =>
      notePage(state, { ...page, items: 1, bad: 0, head: null }, { start: 0, offset: state.pages, bytes }),
  }
}

/** A pool that notes the slices it is given and answers with empty rows, the last first. */
export function recordingPool(): { pool: WritePool; slices: Slice[] } {
  const slices: Slice[] = []
  const hashes = { path: '', rows: 0, bytes: 0, longest: 0 }
  const empty = {
    transactions: 0,
    times: undefined,
    chunks: new Map(),
    seen: new Uint32Array(),
    rejects: [],
    hashes,
  }
  const run = async (task: { kind: string; slice?: Slice }): Promise<SliceRows> => {
    if (task.slice === undefined) throw new Error(`no slice but a ${task.kind}`)
    slices.push(task.slice)
    for (let turns = 10 - (slices.length % 10); turns > 0; turns -= 1) await undefined
    return { range: task.slice.range, ...empty }
  }
  return {
    slices,
    pool: {
      expect: () => {},
      run: run as WritePool['run'],
      close: async () => {},
    },
  }
}
