import { toExportError } from './errors.ts'
import type { BlockRange } from './model.ts'
import { type TableName, tableNamed } from './table/index.ts'
import { assembleTable, type Part } from './write/assemble-table.ts'
import type { Chunk } from './write/chunk.ts'
import { type Slice, type SliceContext, type SliceRows, writeSlice } from './write-slice.ts'

/** A piece of the writing that stands for itself: plain values in, plain values out, files on disk. */
export type WriteTask =
  | { kind: 'slice'; slice: Slice }
  | { kind: 'table'; name: TableName; chunks: readonly Chunk[]; range: BlockRange }

export type WriteResult<T extends WriteTask> = T extends { kind: 'slice' } ? SliceRows : Part[]

/**
 * Does a task in this thread. Whatever is thrown has its code, as it has when another thread answers. The signal breaks
 * off what takes long.
 */
export async function runWriteTask(
  task: WriteTask,
  context: SliceContext,
  signal?: AbortSignal,
): Promise<SliceRows | Part[]> {
  try {
    if (task.kind === 'slice') return await writeSlice(task.slice, context)
    const { name, chunks, range } = task
    return await assembleTable({ ...context, table: tableNamed(name), chunks, range, signal })
  } catch (thrown) {
    throw toExportError(thrown)
  }
}
