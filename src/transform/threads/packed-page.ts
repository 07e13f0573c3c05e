import type { Page, PageKey } from '../../sources/source.ts'

/** A page with its keys by field: V8 copies a few lists to another thread in less time than an object for each item. */
export type PackedPage = Omit<Page, 'keys'> & {
  /** Block, `timeMs`, `lastMs`, `second`, and the end of the hash in `hashes`, for one key after the other. */
  numbers: Float64Array
  hashes: string
}

const FIELDS = 5

export function packPage({ keys, ...page }: Page): PackedPage {
  const numbers = new Float64Array(FIELDS * keys.length)
  let hashes = ''
  for (let at = 0; at < keys.length; at += 1) {
    const { block, timeMs, lastMs, second, hash } = keys[at] as PageKey
    hashes += hash
    const first = FIELDS * at
    numbers[first] = block
    numbers[first + 1] = timeMs
    numbers[first + 2] = lastMs
    numbers[first + 3] = second
    numbers[first + 4] = hashes.length
  }
  return { ...page, numbers, hashes }
}

export function unpackPage({ numbers, hashes, ...page }: PackedPage): Page {
  const keys: PageKey[] = []
  let start = 0
  for (let at = 0; at < numbers.length; at += FIELDS) {
    const end = numbers[at + 4] as number
    keys.push({
      block: numbers[at] as number,
      hash: hashes.slice(start, end),
      timeMs: numbers[at + 1] as number,
      lastMs: numbers[at + 2] as number,
      second: numbers[at + 3] as number,
    })
    start = end
  }
  return { ...page, keys }
}
