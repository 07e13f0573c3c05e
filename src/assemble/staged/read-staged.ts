import { parseBytes } from '../../core/byte-text.ts'
import { transactionsIn } from '../../merge/frame-items.ts'
import type { PagePlace } from '../../merge/page-source.ts'
import { splitPage } from '../../merge/split-page.ts'
import { type OpenFiles, openFiles } from '../open-files.ts'
import type { Places } from '../open-places.ts'
import type { IndexPlace, LineStretch, PageIndex } from './page-index.ts'
import { linesPath } from './stage-files.ts'
import type { OpenedPage, StagedItem } from './staged-source.ts'

/** Reads what threads have staged, by blocking calls; files stay open until `close`. Throws OUTPUT_FAILED. */
export type StagedReader = {
  readIndex(place: IndexPlace): PageIndex
  /** A page's lines of a table; good until its next are read. */
  readLines(page: OpenedPage, table: number, stretch: LineStretch): Buffer
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
  /** Pages that are open at once, at most. */
  overlap: number
}

/** Lines are read ahead, of all tables of all open pages together so many bytes. */
const AHEAD_BYTES = 16_000_000
/** Less than this is not worth a buffer of its own. */
const LEAST_AHEAD_BYTES = 4_096

/** Bytes that are read ahead of a table's lines in one page; 0: none, as so many pages are open at once. */
export function bytesAhead({ overlap, tables }: { overlap: number; tables: number }): number {
  const share = Math.ceil(AHEAD_BYTES / (Math.max(1, overlap) * tables))
  return share < LEAST_AHEAD_BYTES ? 0 : share
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

export function openStagedReader({ folder, tables, pages, overlap }: Reading): StagedReader {
  const files = openFiles()
  const aheadBytes = bytesAhead({ overlap, tables: tables.length })
  const windows = new WeakMap<OpenedPage, Window[]>()
  let room = Buffer.alloc(0)
  const roomFor = (bytes: number) => {
    if (room.length < bytes) room = Buffer.allocUnsafeSlow(2 * bytes)
    return room.subarray(0, bytes)
  }
  const entries = new Map<number, Entries>()
  return {
    readIndex: (place) => readIndexIn(files, { ...place, folder }),
    readLines: (page, table, stretch) => {
      const path = linesPath(folder, tables[table] ?? '', page.place.index.thread)
      if (aheadBytes === 0) return files.read(path, stretch.start, roomFor(stretch.bytes))
      const ofPage = windows.get(page) ?? []
      windows.set(page, ofPage)
      ofPage[table] ??= { start: 0, bytes: Buffer.alloc(0) }
      const end = endOf(page, table)
      const read = (start: number, bytes: number) =>
        files.read(path, start, Buffer.allocUnsafeSlow(Math.max(bytes, Math.min(aheadBytes, end - start))))
      return linesIn(ofPage[table], stretch, read)
    },
    readItem: ({ page, at }) => {
      const { place, index } = page
      const known = entries.get(place.offset)
      const found = known === undefined ? findEntries(pages, place, index.entries) : known
      entries.set(place.offset, found)
      const listed = index.listed[at] ?? 0
      if (found === null) return transactionsIn(parseBytes(pages.read(place)))[listed]
      const [from, to] = [found[2 * listed] ?? 0, found[2 * listed + 1] ?? 0]
      return parseBytes(pages.read({ ...place, offset: place.offset + from, bytes: to - from }))
    },
    close: files.close,
  }
}

/** Lines of a page that were read ahead, and the byte of their file that they begin with. */
type Window = { start: number; bytes: Buffer }

function linesIn(
  window: Window,
  { start, bytes }: LineStretch,
  read: (start: number, bytes: number) => Buffer,
): Buffer {
  if (start < window.start || start + bytes > window.start + window.bytes.length) {
    window.bytes = read(start, bytes)
    window.start = start
  }
  const from = start - window.start
  return window.bytes.subarray(from, from + bytes)
}

/** Where a page's lines of a table end in their file. */
function endOf({ index }: OpenedPage, table: number): number {
  const { start = 0, ends = [] } = index.lines[table] ?? {}
  return start + (ends.at(-1) ?? 0)
}

/** Of each entry of a page where it begins and ends in the body; null where it takes a parser to tell. */
type Entries = Float64Array | null

function findEntries(pages: Places, place: PagePlace, count: number): Entries {
  const found = splitPage(pages.read(place))
  return found?.length === count ? Float64Array.from(found.flat()) : null
}
