/** Rows per DuckDB vector: DuckDB keeps the text of all of them in memory. */
const VECTOR_ROWS = 2_048
/** Target size of a segment, in bytes; a longer row is a segment by itself. */
const SEGMENT_BYTES = 30_000_000

const [QUOTE, LINE_FEED] = [34, 10]

/** Measurements of a CSV file, in bytes of its decompressed content. */
export type CsvMeasure = {
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
export async function measureCsv(content: AsyncIterable<Uint8Array>): Promise<CsvMeasure> {
  const rows = openRowCounter()
  let position: ScanPosition = { offset: 0, isQuoted: false }
  for await (const bytes of content) position = findRows(bytes, position, rows.end)
  return rows.measure(position.offset)
}

type ScanPosition = { offset: number; isQuoted: boolean }

/**
 * Calls `onEnd` with the end offset of each row that ends in these bytes; returns the position after them.
 */
function findRows(
  bytes: Uint8Array,
  { offset, isQuoted }: ScanPosition,
  onEnd: (end: number) => void,
): ScanPosition {
  let isInside = isQuoted
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number
    if (byte > QUOTE) continue
    if (byte === QUOTE) isInside = !isInside
    else if (byte === LINE_FEED && !isInside) onEnd(offset + at + 1)
  }
  return { offset: offset + bytes.length, isQuoted: isInside }
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
