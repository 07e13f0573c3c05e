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
  let place: Place = { offset: 0, isQuoted: false }
  for await (const bytes of content) place = findRows(bytes, place, rows.end)
  return rows.measure(place.offset)
}

type Place = { offset: number; isQuoted: boolean }

/** Tells of each row that ends in these bytes; resolves with the place after them. */
function findRows(bytes: Uint8Array, { offset, isQuoted }: Place, onEnd: (end: number) => void): Place {
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
