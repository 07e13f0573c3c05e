import { largest } from '../../core/platform/extremes.ts'
import type { ImportRow, Leg } from '../import-rows.ts'
import { countBy, tickerName } from '../names/names.ts'

/**
 * Merges all rows of the same names of assets and direction with equal keys into one with the sum of their amounts, in the place
 * of the first of them. If a sum equals another row, these are merged too, so no two rows of the result have equal keys.
 * `keyOf` returns undefined for rows that are not written.
 */
export function mergeEqualRows(
  rows: readonly ImportRow[],
  keyOf: (row: ImportRow) => string | undefined,
): ImportRow[] {
  if (rows.length < 2) return [...rows]
  const assetsOfRows = rows.map(assetsOf)
  const counts = countBy(assetsOfRows, (assets) => assets)
  if (counts.size === rows.length) return [...rows]
  const fullKeyOf = (row: ImportRow, assets = assetsOf(row)) => {
    const key = counts.get(assets) === 1 ? undefined : keyOf(row)
    return key === undefined ? undefined : `${assets} ${key}`
  }
  let keyed: KeyedRow[] = rows.map((row, at) => ({ row, key: fullKeyOf(row, assetsOfRows[at]) }))
  for (;;) {
    const groups = groupByKey(keyed)
    if (groups.length === keyed.length) return keyed.map(({ row }) => row)
    keyed = groups.map(([first, ...others]) => {
      if (others.length === 0) return first
      const row = sumOf([first.row, ...others.map((other) => other.row)])
      return { row, key: fullKeyOf(row) }
    })
  }
}

type KeyedRow = { row: ImportRow; key: string | undefined }

/** Groups the rows with equal keys, in the order of the first of each group. */
function groupByKey(rows: readonly KeyedRow[]): [KeyedRow, ...KeyedRow[]][] {
  const groups: [KeyedRow, ...KeyedRow[]][] = []
  const groupOfKey = new Map<string, KeyedRow[]>()
  for (const keyed of rows) {
    const equal = keyed.key === undefined ? undefined : groupOfKey.get(keyed.key)
    if (equal !== undefined) {
      equal.push(keyed)
      continue
    }
    const group: [KeyedRow, ...KeyedRow[]] = [keyed]
    groups.push(group)
    if (keyed.key !== undefined) groupOfKey.set(keyed.key, group)
  }
  return groups
}

/** The direction of a row, which a fee has too, and its assets. */
const assetsOf = ({ in: received, out: sent }: ImportRow): string =>
  `${received ? tickerName(received.asset) : ''} ${sent ? tickerName(sent.asset) : ''}`

/** The sum of rows. That of fees and other rows is of the kind of the first other row. */
function sumOf(rows: readonly [ImportRow, ...ImportRow[]]): ImportRow {
  const [first, ...others] = rows
  return {
    ...(rows.find(({ kind }) => kind !== 'fee') ?? first),
    in: sumOfLegs(rows.map((row) => row.in)),
    out: sumOfLegs(rows.map((row) => row.out)),
    fee: sumOfLegs(rows.map((row) => row.fee)),
    movements: [...first.movements, ...others.flatMap(({ movements }) => movements)],
    mergedRows: rows.flatMap((row) => row.mergedRows ?? [row]),
  }
}

/** Adds amounts, in the smallest of their units: assets of two chains with the same name can have different decimals. */
function sumOfLegs(legs: readonly (Leg | undefined)[]): Leg | undefined {
  const added = legs.filter((leg) => leg !== undefined)
  const [first] = added
  if (first === undefined) return undefined
  const decimals = largest(added.map(decimalsOf))
  const asset = first.asset.decimals === null ? first.asset : { ...first.asset, decimals }
  const value = added.reduce((sum, leg) => sum + leg.value * 10n ** BigInt(decimals - decimalsOf(leg)), 0n)
  return { asset, value }
}

const decimalsOf = ({ asset }: Leg) => asset.decimals ?? 0
