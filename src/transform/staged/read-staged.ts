import type { BlockRange } from '../../core/model/model.ts'
import { parseBytes } from '../../core/platform/byte-text.ts'
import type { ByteRange, Source } from '../../sources/source.ts'
import {
  type ItemSource,
  includedItems,
  type PageLocation,
  type PositionedItem,
  type ReorgedTransaction,
  storedItems,
} from '../merge/page-items.ts'
import { type FileReader, openFileReader, type PageReader } from '../page-reader.ts'
import { hasFlag, type IndexLocation, type PageIndex, readIndexBytes } from './page-index.ts'
import { linesPath } from './stage-page.ts'

/**
 * Reads staging files of all threads synchronously. Files stay open until `close`. Methods throw
 * OUTPUT_FAILED.
 */
export type StagedReader = {
  readIndex(location: IndexLocation): PageIndex
  /** Fills the buffer with lines of a page, from byte offset `start` of the table's staging file on. */
  readLines(lines: { page: OpenPage; table: number; start: number }, buffer: Buffer): void
  /** Returns the parsed item of the page. Its strings are `ByteText`. */
  readItem(item: StagedItem): unknown
  close(): void
}

export type StagedReaderOptions = {
  /** Folder of the staging files. */
  folder: string
  /** Names of the job's tables. */
  tables: readonly string[]
  pageReader: PageReader
  source: Source
}

/** Opens a reader for page indexes only. */
export function openIndexes(folder: string): Pick<StagedReader, 'readIndex' | 'close'> {
  const files = openFileReader()
  return { readIndex: (location) => readIndexIn(files, { ...location, folder }), close: files.close }
}

function readIndexIn(
  files: FileReader,
  { folder, thread, offset, bytes }: IndexLocation & { folder: string },
): PageIndex {
  return readIndexBytes(files.read(linesPath(folder, 'indexes', thread), offset, Buffer.allocUnsafe(bytes)))
}

export function openStagedReader({ folder, tables, pageReader, source }: StagedReaderOptions): StagedReader {
  const files = openFileReader()
  const entries = new Map<number, EntryOffsets>()
  // Cached per thread, because there may be millions of line ranges.
  const paths: string[][] = []
  const pathsOf = (thread: number) =>
    (paths[thread] ??= tables.map((name) => linesPath(folder, name, thread)))
  return {
    readIndex: (location) => readIndexIn(files, { ...location, folder }),
    readLines: ({ page, table, start }, buffer) => {
      files.read(pathsOf(page.location.index.thread)[table] ?? '', start, buffer)
    },
    readItem: ({ page, at }) => {
      const { location, index } = page
      const cached = entries.get(location.offset)
      const offsets =
        cached === undefined
          ? findEntries(source.splitPage(pageReader.read(location)), index.entries)
          : cached
      entries.set(location.offset, offsets)
      const listed = index.listIndex[at] ?? 0
      if (offsets === null) return storedItems(pageReader.read(location), source)[listed]
      const [from, to] = [offsets[2 * listed] ?? 0, offsets[2 * listed + 1] ?? 0]
      return parseBytes(pageReader.read({ ...location, offset: location.offset + from, bytes: to - from }))
    },
    close: files.close,
  }
}

/**
 * Start and end offset of each entry in the page's body; null if the entries cannot be located without a JSON
 * parser.
 */
type EntryOffsets = Float64Array | null

function findEntries(offsets: readonly ByteRange[] | undefined, count: number): EntryOffsets {
  return offsets?.length === count ? Float64Array.from(offsets.flat()) : null
}

/** A staged page: the location of its body in the checkpoint and of its index in the staging files. */
export type StagedPageLocation = PageLocation & { index: IndexLocation }

/** A transaction of a staged page. */
export type StagedItem = PositionedItem & {
  page: OpenPage
  /** Index of the transaction in the page index. */
  at: number
}

export type OpenPage = { location: StagedPageLocation; index: PageIndex }

export type StagedContext = {
  readIndex: (location: IndexLocation) => PageIndex
  /** Half-open. Items outside are ignored. */
  range: BlockRange
  /** By hash, transactions that have several chain positions. @default none */
  reorged?: ReadonlyMap<string, ReorgedTransaction> | undefined
  /** @default none */
  rejectedTimes?: RejectedTimes | undefined
}

/** By block, its times in whole seconds at which its records are rejected. */
export type RejectedTimes = ReadonlyMap<number, ReadonlySet<number>>

type StagedPosition = Pick<StagedItem, 'page' | 'at'>

/** The time of an item's block, in whole seconds. */
export const secondOf = ({ page, at }: StagedPosition): number =>
  Math.floor((page.index.timeMs[at] ?? 0) / 1000)

/** Whether an item is rejected because of the time of the block that lists it. */
export function isAtRejectedTime(item: StagedPosition, rejectedTimes: RejectedTimes | undefined): boolean {
  const seconds = rejectedTimes?.get(item.page.index.block[item.at] ?? 0)
  return seconds?.has(secondOf(item)) ?? false
}

/** Whether an item has rows: it could be normalized, and its time is not rejected. */
export const isUsable = (item: StagedPosition, rejectedTimes: RejectedTimes | undefined): boolean =>
  hasFlag(item.page.index, item.at, 'isNormalized') && !isAtRejectedTime(item, rejectedTimes)

/** Opens a staged page as a merge source. Its index is read when the merge loads it. */
export function openStagedSource(
  location: StagedPageLocation,
  { readIndex, rejectedTimes, ...filter }: StagedContext,
): ItemSource<StagedItem> {
  const { wallet, keyRange, validBefore, rereadRanges } = location
  return {
    keyRange,
    load: () => {
      const index = readIndex(location.index)
      const page = { location, index }
      const items = index.hash.map((hash, at): StagedItem => {
        const key = { block: index.block[at] ?? 0, index: index.index[at] ?? 0, hash }
        return { key, wallet, page, at }
      })
      return includedItems(items, { ...filter, validBefore, rereadRanges }, (item) =>
        isUsable(item, rejectedTimes),
      )
    },
  }
}
