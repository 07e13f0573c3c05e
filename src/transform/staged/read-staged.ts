import { parseBytes } from '../../core/platform/byte-text.ts'
import { type OpenFiles, openFiles } from '../file-reader.ts'
import type { PagePlace } from '../merge/page-source.ts'
import { storedItems } from '../merge/record-items.ts'
import { splitPage } from '../merge/split-page.ts'
import type { Places } from '../open-page-reader.ts'
import type { IndexPlace, PageIndex } from './page-index.ts'
import { linesPath } from './stage-files.ts'
import type { OpenedPage, StagedItem } from './staged-source.ts'

/** Reads what threads have staged, by blocking calls; files stay open until `close`. Throws OUTPUT_FAILED. */
export type StagedReader = {
  readIndex(place: IndexPlace): PageIndex
  /** Fills the room with a page's lines of a table, from the byte `start` of their file on. */
  readLines(lines: { page: OpenedPage; table: number; start: number }, room: Buffer): void
  /** The item as the page has it, parsed; its strings are bytes. */
  readItem(item: StagedItem): unknown
  close(): void
}

export type Reading = {
  /** Where lines are staged. */
  folder: string
  /** Names of the job's tables. */
  tables: readonly string[]
  pages: Places
}

/** Reads indexes of staged pages alone. */
export function openIndexes(folder: string): Pick<StagedReader, 'readIndex' | 'close'> {
  const files = openFiles()
  return { readIndex: (place) => readIndexIn(files, { ...place, folder }), close: files.close }
}

function readIndexIn(
  files: OpenFiles,
  { folder, thread, offset, bytes }: IndexPlace & { folder: string },
): PageIndex {
  const read = files.read(linesPath(folder, 'indexes', thread), offset, Buffer.allocUnsafe(bytes))
  return JSON.parse(read.toString()) as PageIndex
}

export function openStagedReader({ folder, tables, pages }: Reading): StagedReader {
  const files = openFiles()
  const entries = new Map<number, Entries>()
  // Worked out once a thread: there may be millions of stretches.
  const paths: string[][] = []
  const pathsOf = (thread: number) =>
    (paths[thread] ??= tables.map((name) => linesPath(folder, name, thread)))
  return {
    readIndex: (place) => readIndexIn(files, { ...place, folder }),
    readLines: ({ page, table, start }, room) => {
      files.read(pathsOf(page.place.index.thread)[table] ?? '', start, room)
    },
    readItem: ({ page, at }) => {
      const { place, index } = page
      const known = entries.get(place.offset)
      const found = known === undefined ? findEntries(pages, place, index.entries) : known
      entries.set(place.offset, found)
      const listed = index.listed[at] ?? 0
      if (found === null) return storedItems(pages.read(place))[listed]
      const [from, to] = [found[2 * listed] ?? 0, found[2 * listed + 1] ?? 0]
      return parseBytes(pages.read({ ...place, offset: place.offset + from, bytes: to - from }))
    },
    close: files.close,
  }
}

/** Of each entry of a page where it begins and ends in the body; null where it takes a parser to tell. */
type Entries = Float64Array | null

function findEntries(pages: Places, place: PagePlace, count: number): Entries {
  const found = splitPage(pages.read(place))
  return found?.length === count ? Float64Array.from(found.flat()) : null
}
