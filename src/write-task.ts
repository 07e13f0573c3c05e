import { toExportError } from './errors.ts'
import type { BlockRange } from './model.ts'
import { type TableName, tableNamed } from './table/index.ts'
import { assembleTable, type Part } from './write/assemble-table.ts'
import type { Chunk } from './write/chunk.ts'
import { createSliceWriter, type Slice, type SliceContext, type SliceRows } from './write-slice.ts'

/** A piece of the writing that stands for itself: plain values in, plain values out, files on disk. */
export type WriteTask =
  | { kind: 'slice'; slice: Slice }
  | { kind: 'table'; name: TableName; chunks: readonly Chunk[]; range: BlockRange }

export type WriteResult<T extends WriteTask> = T extends { kind: 'slice' } ? SliceRows : Part[]

/** Does one task after the other. Rejects with an error that has its code; the signal breaks off what takes long. */
export type WriteTasks = (task: WriteTask, signal?: AbortSignal) => Promise<SliceRows | Part[]>

/** What does tasks in this thread. */
export function openWriteTasks(context: SliceContext): WriteTasks {
  const writeSlice = createSliceWriter(context)
  return async (task, signal) => {
    try {
      if (task.kind === 'slice') return writeSlice(task.slice)
      const { name, chunks, range } = task
      return await assembleTable({ ...context, table: tableNamed(name), chunks, range, signal })
    } catch (thrown) {
      throw toExportError(thrown)
    }
  }
}
