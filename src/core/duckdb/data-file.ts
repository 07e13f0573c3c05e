import { createReadStream } from 'node:fs'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Format } from '../model/model.ts'
import { diskError } from '../platform/disk.ts'
import { scratchFault } from '../platform/scratch-folder.ts'
import { type CsvMeasure, measureCsv } from './measure-csv.ts'

/** A file of an export as DuckDB reads it: the file itself, or pieces of a CSV file whose rows are long. */
export type DataFile = {
  format: Format
  /** In order. */
  paths: readonly string[]
  /** CSV in gzip. */
  isPacked: boolean
  /** Bytes that a row of CSV may have, at least. */
  longest: number
  /** Removes the pieces. */
  close(): Promise<void>
}

/** Bytes that rows may always have: less spares no memory. */
const LEAST_ROW = 1024 * 1024
/** Bytes that a row may have without a look at the file. */
const USUAL_ROW = 16 * 1024 * 1024
/** Bytes of 2,048 rows that DuckDB holds at once within the least memory that it is given. */
const USUAL_ROWS = 64 * 1024 * 1024

/**
 * Opens a file for DuckDB. A CSV file with a row over 16 MiB, or with 2,048 rows in a row of more than 64 MiB, is cut into
 * pieces in the scratch folder, each with the header: DuckDB reads at most 2,048 rows at once, and none beyond a file's end.
 * What cannot be read is handed on, so that DuckDB says what is wrong. Throws OUTPUT_FAILED where pieces cannot be written.
 */
export async function openDataFile(path: string, format: Format, scratch: string): Promise<DataFile> {
  const whole = wholeFile(path, format)
  if (format === 'parquet') return whole
  const { isPacked } = whole
  const measure = await measureWhereLarge(path, isPacked).catch(() => undefined)
  if (measure === undefined) return whole
  if (measure.longest <= USUAL_ROW && measure.heaviest <= USUAL_ROWS)
    return { ...whole, longest: Math.max(LEAST_ROW, measure.longest) }
  const folder = await mkdtemp(join(scratch, 'pieces-'))
  const close = () => rm(folder, { recursive: true, force: true })
  try {
    const paths = await cutFile({ path, isPacked, folder, measure })
    return { ...whole, paths, isPacked: false, longest: Math.max(USUAL_ROW, measure.longest), close }
  } catch (cause) {
    await close()
    throw scratchFault(cause, scratch) ?? diskError(`cannot write pieces of ${path}`, cause)
  }
}

/** A file as it is, whatever the length of its rows. */
export function wholeFile(path: string, format: Format): DataFile {
  const isPacked = format === 'csv' && path.endsWith('.gz')
  return { format, paths: [path], isPacked, longest: USUAL_ROW, close: async () => {} }
}

/** A file that is smaller than a long row needs no look. */
async function measureWhereLarge(path: string, isPacked: boolean): Promise<CsvMeasure | undefined> {
  if (!isPacked && (await stat(path)).size <= USUAL_ROW) return undefined
  return readUnpacked(path, isPacked, measureCsv)
}

function readUnpacked<T>(
  path: string,
  isPacked: boolean,
  read: (content: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<T> {
  const file = createReadStream(path, { highWaterMark: 1 << 18 })
  return isPacked ? pipeline(file, createGunzip({ chunkSize: 1 << 18 }), read) : pipeline(file, read)
}

type Cutting = { path: string; isPacked: boolean; folder: string; measure: CsvMeasure }

/** Writes the pieces; resolves with their paths. */
function cutFile({ path, isPacked, folder, measure }: Cutting): Promise<string[]> {
  return readUnpacked(path, isPacked, async (content) => {
    const paths: string[] = []
    const header: Uint8Array[] = []
    const ends = [measure.headerEnd, ...measure.ends]
    for await (const { stretch, bytes } of splitAt(content, ends)) {
      if (stretch === 0) {
        header.push(bytes)
        continue
      }
      const piece = join(folder, `${stretch}.csv`)
      const isNew = paths.at(-1) !== piece
      if (isNew) paths.push(piece)
      await append(piece, isNew ? [...header, bytes] : [bytes])
    }
    return paths
  })
}

/** Splits content at these offsets: tells of all bytes in which stretch they lie. */
async function* splitAt(content: AsyncIterable<Uint8Array>, ends: readonly number[]) {
  let [offset, stretch] = [0, 0]
  for await (const chunk of content) {
    let from = 0
    while (from < chunk.length) {
      const end = ends[stretch] ?? Number.POSITIVE_INFINITY
      const to = Math.min(chunk.length, end - offset)
      if (to > from) yield { stretch, bytes: chunk.subarray(from, to) }
      if (offset + to === end) stretch += 1
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
