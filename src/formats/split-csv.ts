import { createReadStream } from 'node:fs'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { diskError, readBlocks } from '../core/platform/disk.ts'
import { toScratchError } from '../core/platform/scratch-folder.ts'
import { type DataFile, DEFAULT_ROW_BYTES } from './format.ts'

/** Lower bound of `maxRowBytes`: smaller values do not save memory. */
const MIN_ROW_BYTES = 1024 * 1024
/** Largest size of 2,048 rows that DuckDB can hold with its lowest memory limit. */
const DEFAULT_VECTOR_BYTES = 64 * 1024 * 1024

/**
 * Prepares a CSV file for DuckDB, which reads at most 2,048 rows at once, and never across the end of a file. A
 * CSV file with a row longer than 16 MiB, or with 2,048 consecutive rows larger than 64 MiB, is therefore
 * split into segments in the scratch folder, each with the header. An unreadable file is returned as it is,
 * so that DuckDB reports what is wrong. Throws OUTPUT_FAILED if the segments cannot be written.
 */
export async function splitLongRows(path: string, unsplit: DataFile, scratch: string): Promise<DataFile> {
  const { isGzipped } = unsplit
  const measured = await measureIfLarge(path, isGzipped).catch(() => undefined)
  if (measured === undefined) return unsplit
  if (measured.maxRowBytes <= DEFAULT_ROW_BYTES && measured.maxVectorBytes <= DEFAULT_VECTOR_BYTES)
    return { ...unsplit, maxRowBytes: Math.max(MIN_ROW_BYTES, measured.maxRowBytes) }
  const folder = await mkdtemp(join(scratch, 'pieces-'))
  const close = () => rm(folder, { recursive: true, force: true })
  try {
    const paths = await splitFile({ path, isGzipped, folder, measured })
    return {
      ...unsplit,
      paths,
      isGzipped: false,
      maxRowBytes: Math.max(DEFAULT_ROW_BYTES, measured.maxRowBytes),
      close,
    }
  } catch (cause) {
    await close()
    throw toScratchError(cause, scratch) ?? diskError(`cannot write segments of ${path}`, cause)
  }
}

/** Measures a file unless it is too small to contain a long row. */
async function measureIfLarge(path: string, isGzipped: boolean): Promise<CsvMeasure | undefined> {
  if (isGzipped) return readDecompressed(path, isGzipped, measureCsv)
  return (await stat(path)).size <= DEFAULT_ROW_BYTES ? undefined : measureCsv(readBlocks(path))
}

function readDecompressed<T>(
  path: string,
  isGzipped: boolean,
  read: (content: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const file = createReadStream(path, { highWaterMark: 1 << 18 })
  return isGzipped ? pipeline(file, createGunzip({ chunkSize: 1 << 18 }), read) : pipeline(file, read)
}

type SplitOptions = { path: string; isGzipped: boolean; folder: string; measured: CsvMeasure }

/** Writes the segments and resolves with their paths. */
function splitFile({ path, isGzipped, folder, measured }: SplitOptions): Promise<string[]> {
  return readDecompressed(path, isGzipped, async (content) => {
    const paths: string[] = []
    const header: Uint8Array[] = []
    const ends = [measured.headerEnd, ...measured.segmentEnds]
    for await (const { segment, bytes } of splitAt(content, ends)) {
      if (segment === 0) {
        header.push(bytes)
        continue
      }
      const segmentPath = join(folder, `${segment}.csv`)
      const isNew = paths.at(-1) !== segmentPath
      if (isNew) paths.push(segmentPath)
      await append(segmentPath, isNew ? [...header, bytes] : [bytes])
    }
    return paths
  })
}

/** Splits content at these offsets and yields all bytes, each chunk with the number of its segment. */
async function* splitAt(content: AsyncIterable<Uint8Array>, ends: readonly number[]) {
  let [offset, segment] = [0, 0]
  for await (const chunk of content) {
    let from = 0
    while (from < chunk.length) {
      const end = ends[segment] ?? Number.POSITIVE_INFINITY
      const to = Math.min(chunk.length, end - offset)
      if (to > from) yield { segment, bytes: chunk.subarray(from, to) }
      if (offset + to === end) segment += 1
      from = to
    }
    offset += chunk.length
  }
}

async function append(path: string, parts: readonly Uint8Array[]): Promise<void> {
  const file = await open(path, 'a')
  try {
    for (const bytes of parts) await file.writeFile(bytes)
  } finally {
    await file.close()
  }
}

/** Rows per DuckDB vector: DuckDB keeps the text of all of them in memory. */
const VECTOR_ROWS = 2_048
/** Target size of a segment, in bytes; a longer row is a segment by itself. */
const SEGMENT_BYTES = 30_000_000

const [QUOTE, LINE_FEED] = [34, 10]

/** Measurements of a CSV file, in bytes of its decompressed content. */
type CsvMeasure = {
  /** End of the header. */
  headerEnd: number
  /** Length of the longest row. */
  maxRowBytes: number
  /** Largest total length of 2,048 consecutive rows. */
  maxVectorBytes: number
  /** End offsets of segments of about 30 MB; each is the end of a row, the last one the end of the file. */
  segmentEnds: readonly number[]
}

/** Measures the rows of a CSV file with a header. A line feed inside quotes does not end a row. */
async function measureCsv(content: AsyncIterable<Buffer>): Promise<CsvMeasure> {
  const rows = openRowCounter()
  let position: ScanPosition = { offset: 0, isQuoted: false }
  for await (const bytes of content) position = findRows(bytes, position, rows.end)
  return rows.measure(position.offset)
}

type ScanPosition = { offset: number; isQuoted: boolean }

/**
 * Calls `onEnd` with the end offset of each row that ends in these bytes; returns the position after them. Searching for
 * the next quote and line feed takes a fifth of the time of a loop over the bytes.
 */
function findRows(
  bytes: Buffer,
  { offset, isQuoted }: ScanPosition,
  onEnd: (end: number) => void,
): ScanPosition {
  const end = bytes.length
  let at = isQuoted ? quotedEnd(bytes, 0) : 0
  let lineFeed = -1
  while (at < end) {
    const quote = find(bytes, QUOTE, at)
    // A line feed after many quotes is searched for once.
    if (lineFeed < at) lineFeed = find(bytes, LINE_FEED, at)
    while (lineFeed < quote) {
      onEnd(offset + lineFeed + 1)
      lineFeed = find(bytes, LINE_FEED, lineFeed + 1)
    }
    at = quote === end ? end : quotedEnd(bytes, quote + 1)
  }
  return { offset: offset + end, isQuoted: at > end }
}

/** Position of the next such byte, or the end of the bytes. */
function find(bytes: Buffer, byte: number, from: number): number {
  const found = bytes.indexOf(byte, from)
  return found < 0 ? bytes.length : found
}

/** Position after the quote that closes the text, or beyond the end of the bytes if none does. */
function quotedEnd(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at += 1) {
    if (bytes[at] !== QUOTE) continue
    if (bytes[at + 1] !== QUOTE) return at + 1
    at += 1
  }
  return bytes.length + 1
}

function openRowCounter() {
  const measure = { headerEnd: 0, maxRowBytes: 0, maxVectorBytes: 0, segmentEnds: [] as number[] }
  const lengths = new Float64Array(VECTOR_ROWS)
  let [row, rowStart, segmentStart, vectorBytes] = [0, 0, 0, 0]
  const endRow = (rowEnd: number) => {
    const length = rowEnd - rowStart
    const slot = row % VECTOR_ROWS
    vectorBytes += length - (lengths[slot] ?? 0)
    lengths[slot] = length
    if (row === 0) segmentStart = measure.headerEnd = rowEnd
    if (rowEnd - segmentStart > SEGMENT_BYTES && rowStart > segmentStart) {
      measure.segmentEnds.push(rowStart)
      segmentStart = rowStart
    }
    if (length > measure.maxRowBytes) measure.maxRowBytes = length
    if (vectorBytes > measure.maxVectorBytes) measure.maxVectorBytes = vectorBytes
    rowStart = rowEnd
    row += 1
  }
  return {
    /** Records the end offset of the next row. */
    end: endRow,
    /** The measurements of a file of this many bytes. Bytes after the last line feed count as a row. */
    measure: (bytes: number): CsvMeasure => {
      if (bytes > rowStart) endRow(bytes)
      return { ...measure, segmentEnds: [...measure.segmentEnds, bytes] }
    },
  }
}
