import type { ImportRow, Leg } from '../import-rows.ts'
import { tickerName } from '../names/asset-name.ts'
import { countBy } from '../names/first-digits.ts'

/**
 * Merges rows of the same names of assets and direction with equal keys into one with the sums of their amounts, in the place of
 * the first of them. If the sum equals another row, these are merged too. `keyOf` returns undefined for rows that are not
 * written.
 */
export function mergeEqualRows(
  rows: readonly ImportRow[],
  keyOf: (row: ImportRow) => string | undefined,
): ImportRow[] {
  if (rows.length < 2) return [...rows]
  const assetsOfRows = rows.map(assetsOf)
  const counts = countBy(assetsOfRows, (assets) => assets)
  if (counts.size === rows.length) return [...rows]
  const merged: (ImportRow | undefined)[] = []
  const positions = new Map<string, number>()
  for (const [at, row] of rows.entries()) {
    const assets = assetsOfRows[at] ?? ''
    const fullKeyOf = (one: ImportRow) => {
      const key = counts.get(assets) === 1 ? undefined : keyOf(one)
      return key === undefined ? undefined : `${assets} ${key}`
    }
    placeRow(row, { merged, positions, keyOf: fullKeyOf })
  }
  return merged.filter((row) => row !== undefined)
}

/** The direction of a row, which a fee has too, and its assets. */
const assetsOf = ({ in: received, out: sent }: ImportRow): string =>
  `${received ? tickerName(received.asset) : ''} ${sent ? tickerName(sent.asset) : ''}`

type Placed = {
  merged: (ImportRow | undefined)[]
  /** The index of the row with a key. */
  positions: Map<string, number>
  keyOf: (row: ImportRow) => string | undefined
}

/** Appends a row, or adds it to the row with the same key; and the sum to the row with its key, and so on. */
function placeRow(row: ImportRow, { merged, positions, keyOf }: Placed): void {
  let [current, at] = [row, merged.length]
  for (;;) {
    const key = keyOf(current)
    const equalAt = key === undefined ? undefined : positions.get(key)
    const equal = equalAt === undefined ? undefined : merged[equalAt]
    if (key === undefined || equalAt === undefined || equal === undefined) {
      merged[at] = current
      if (key !== undefined) positions.set(key, at)
      return
    }
    positions.delete(key)
    current = equalAt < at ? sumOf(equal, current) : sumOf(current, equal)
    merged[Math.max(at, equalAt)] = undefined
    at = Math.min(at, equalAt)
  }
}

/** The sum of two rows. That of a fee and another row is of the other row's kind. */
function sumOf(first: ImportRow, second: ImportRow): ImportRow {
  return {
    ...(first.kind === 'fee' ? second : first),
    in: sumOfLegs(first.in, second.in),
    out: sumOfLegs(first.out, second.out),
    movements: [...first.movements, ...second.movements],
    mergedRows: [...(first.mergedRows ?? [first]), ...(second.mergedRows ?? [second])],
  }
}

/** Adds amounts, in the smaller of their units: assets of two chains with the same name can have different decimals. */
function sumOfLegs(first: Leg | undefined, second: Leg | undefined): Leg | undefined {
  if (first === undefined || second === undefined) return first
  const decimals = Math.max(decimalsOf(first), decimalsOf(second))
  const [a, b] = [first, second].map((leg) => leg.value * 10n ** BigInt(decimals - decimalsOf(leg)))
  const asset = first.asset.decimals === null ? first.asset : { ...first.asset, decimals }
  return { asset, value: (a ?? 0n) + (b ?? 0n) }
}

const decimalsOf = ({ asset }: Leg) => asset.decimals ?? 0
