import { toExportError } from '../../core/errors.ts'
import type { BlockRange } from '../../core/model.ts'
import { type TableName, tableNamed } from '../../core/table/index.ts'
import { condense } from '../../merge/condense.ts'
import { openSource, type SourcePlace } from '../../merge/source-place.ts'
import { assembleTable, type Part } from '../../write/assemble-table.ts'
import type { Chunk } from '../../write/chunk.ts'
import { openPlaces } from '../open-places.ts'
import {
  createSliceWriter,
  type Slice,
  type SliceContext,
  type SliceRows,
  type SliceWriter,
} from '../write-slice.ts'

/** A piece of the writing that stands for itself: plain values in, plain values out, files on disk. */
export type WriteTask =
  | { kind: 'condense'; places: readonly SourcePlace[] }
  | { kind: 'slice'; slice: Slice }
  | { kind: 'table'; name: TableName; chunks: readonly Chunk[]; range: BlockRange }

export type WriteResult<T extends WriteTask> = T extends { kind: 'condense' }
  ? readonly SourcePlace[]
  : T extends { kind: 'slice' }
    ? SliceRows
    : Part[]

/** What does one task after the other. */
export type WriteTasks = {
  /** Rejects with an error that has its code; the signal breaks off what takes long. */
  run(task: WriteTask, signal?: AbortSignal): Promise<WriteResult<WriteTask>>
  /** Closes the files that rows are staged in. */
  close(): void
}

/** What does tasks in this thread. */
export function openWriteTasks(context: SliceContext): WriteTasks {
  let slices: SliceWriter | undefined
  return {
    run: async (task, signal) => {
      try {
        if (task.kind === 'condense') return await condensePlaces(task.places, context, signal)
        if (task.kind === 'slice') {
          slices ??= createSliceWriter(context)
          return slices.write(task.slice)
        }
        const { name, chunks, range } = task
        // What is staged goes with the last table that is made of it, and its room on the disk once it is closed.
        slices?.close()
        return await assembleTable({ ...context, table: tableNamed(name), chunks, range, signal })
      } catch (thrown) {
        throw toExportError(thrown)
      }
    },
    close: () => slices?.close(),
  }
}

/** Sorts pages of which too many overlap into runs. */
async function condensePlaces(
  places: readonly SourcePlace[],
  context: SliceContext,
  signal: AbortSignal | undefined,
): Promise<readonly SourcePlace[]> {
  const pages = openPlaces(context)
  const all = { range: { from: 0, to: Number.MAX_SAFE_INTEGER }, cutMs: context.cutMs }
  const open = (place: SourcePlace) => openSource(place, { read: pages.read, ...all })
  try {
    return await condense(places, { file: context.runsFile, open, signal })
  } finally {
    pages.close()
  }
}
