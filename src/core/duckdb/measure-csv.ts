/** Rows that DuckDB reads at once: all that their text stands in stays in memory meanwhile. */
const ROWS_AT_ONCE = 2_048
/** Bytes of a piece of a file that is cut; a longer row is a piece by itself. */
const PIECE_BYTES = 30_000_000

const [QUOTE, LINE_FEED] = [34, 10]

/** What is known of a CSV file once its bytes were seen; all in bytes of the unpacked content. */
export type CsvMeasure = {
  /** Where the header ends. */
  headerEnd: number
  /** Length of the longest row. */
  longest: number
  /** Most that 2,048 rows in a row have together. */
  heaviest: number
  /** Where pieces of about 30 MB end: at the end of a row each, the last at the file's. */
  ends: readonly number[]
}

/** Measures the rows of a CSV file that has a header. A line feed within quotes ends no row. */
export async function measureCsv(content: AsyncIterable<Uint8Array>): Promise<CsvMeasure> {
  const rows = openRowCounter()
  let offset = 0
  let isQuoted = false
  for await (const bytes of content) {
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at]
      if (byte === QUOTE) isQuoted = !isQuoted
      else if (byte === LINE_FEED && !isQuoted) rows.end(offset + at + 1)
    }
    offset += bytes.length
  }
  return rows.measure(offset)
}

function openRowCounter() {
  const measure = { headerEnd: 0, longest: 0, heaviest: 0, ends: [] as number[] }
  const lengths = new Float64Array(ROWS_AT_ONCE)
  let [row, rowStart, pieceStart, together] = [0, 0, 0, 0]
  const end = (rowEnd: number) => {
    const length = rowEnd - rowStart
    const place = row % ROWS_AT_ONCE
    together += length - (lengths[place] ?? 0)
    lengths[place] = length
    if (row === 0) pieceStart = measure.headerEnd = rowEnd
    if (rowEnd - pieceStart > PIECE_BYTES && rowStart > pieceStart) {
      measure.ends.push(rowStart)
      pieceStart = rowStart
    }
    if (length > measure.longest) measure.longest = length
    if (together > measure.heaviest) measure.heaviest = together
    rowStart = rowEnd
    row += 1
  }
  return {
    /** Tells where the next row ends. */
    end,
    /** What was measured of a file of so many bytes; what follows the last line feed is a row, too. */
    measure: (bytes: number): CsvMeasure => {
      if (bytes > rowStart) end(bytes)
      return { ...measure, ends: [...measure.ends, bytes] }
    },
  }
}
