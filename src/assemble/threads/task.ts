import { toExportError } from '../../core/errors.ts'
import { sortExternally } from '../../merge/external-sort.ts'
import { openSource, type SourcePlace } from '../../merge/source-place.ts'
import { openPlaces } from '../open-places.ts'
import { createSliceWriter, type Slice, type SliceContext, type SliceRows } from '../write-slice.ts'

/** A piece of the writing that stands for itself: plain values in, plain values out, files on disk. */
export type WriteTask = { kind: 'sort'; places: readonly SourcePlace[] } | { kind: 'slice'; slice: Slice }

export type WriteResult<T extends WriteTask> = T extends { kind: 'slice' }
  ? SliceRows
  : readonly SourcePlace[]

/** What does one task after the other. */
export type WriteTasks = {
  /** Rejects with an error that has its code; the signal breaks off what takes long. */
  run(task: WriteTask, signal?: AbortSignal): Promise<WriteResult<WriteTask>>
  /** Closes the files that rows are staged in; the next slice opens them again. */
  close(): void
}

/** What does tasks in this thread. */
export function openWriteTasks(context: SliceContext): WriteTasks {
  const slices = createSliceWriter(context)
  return {
    run: async (task, signal) => {
      try {
        return task.kind === 'slice'
          ? slices.write(task.slice)
          : await sortPlaces(task.places, context, signal)
      } catch (thrown) {
        throw toExportError(thrown)
      }
    },
    close: slices.close,
  }
}

/** Sorts pages of which too many overlap into runs. */
async function sortPlaces(
  places: readonly SourcePlace[],
  context: SliceContext,
  signal: AbortSignal | undefined,
): Promise<readonly SourcePlace[]> {
  const pages = openPlaces(context)
  const all = { range: { from: 0, to: Number.MAX_SAFE_INTEGER }, cutMs: context.cutMs }
  const open = (place: SourcePlace) => openSource(place, { read: pages.read, ...all })
  try {
    return await sortExternally(places, { file: context.runsFile, open, signal })
  } finally {
    pages.close()
  }
}
