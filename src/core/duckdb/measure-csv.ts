/** Rows that DuckDB reads at once: all that their text stands in stays in memory meanwhile. */
const VECTOR_ROWS = 2_048
/** Bytes of a piece of a file that is cut; a longer row is a piece by itself. */
const SEGMENT_BYTES = 30_000_000

const [QUOTE, LINE_FEED] = [34, 10]

/** What is known of a CSV file once its bytes were seen; all in bytes of the unpacked content. */
export type CsvMeasure = {
  /** Where the header ends. */
  headerEnd: number
  /** Length of the longest row. */
  maxRowBytes: number
  /** Most that 2,048 rows in a row have together. */
  maxVectorBytes: number
  /** Where pieces of about 30 MB end: at the end of a row each, the last at the file's. */
  segmentEnds: readonly number[]
}

/** Measures the rows of a CSV file that has a header. A line feed within quotes ends no row. */
export async function measureCsv(content: AsyncIterable<Uint8Array>): Promise<CsvMeasure> {
  const rows = openRowCounter()
  let position: ScanPosition = { offset: 0, isQuoted: false }
  for await (const bytes of content) position = findRows(bytes, position, rows.end)
  return rows.measure(position.offset)
}

type ScanPosition = { offset: number; isQuoted: boolean }

/** Tells of each row that ends in these bytes; resolves with the place after them. */
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
    /** Tells where the next row ends. */
    end: endRow,
    /** What was measured of a file of so many bytes; what follows the last line feed is a row, too. */
    measure: (bytes: number): CsvMeasure => {
      if (bytes > rowStart) endRow(bytes)
      return { ...measure, segmentEnds: [...measure.segmentEnds, bytes] }
    },
  }
}
