import { isCompared, type Preset } from '../csv/preset.ts'
import { quote } from './check-numbers.ts'

/** A record and its line number. */
export type Row = { line: number; cells: readonly string[] }

/** Rows, ids and asset names of earlier lines, with their line numbers. */
export type SeenRows = {
  lines: Map<string, number>
  ids: Map<string, number>
  names: Map<string, { name: string; line: number }>
}

export const newSeenRows = (): SeenRows => ({ lines: new Map(), ids: new Map(), names: new Map() })

/**
 * Whether no two rows are equal: those of different movements are merged, or a column identifies the movement (hash, id
 * or note).
 */
const hasUniqueRows = ({ columns, mayRepeatRows, equalLines }: Preset) =>
  equalLines.handling === 'merge' ||
  (!mayRepeatRows && columns.some(([, role]) => ['hash', 'id', 'note'].includes(role)))

/** Reports a row, or an id, that an earlier line has too. */
export function checkDuplicate(
  { line, cells }: Row,
  { preset, seen: { lines, ids }, id }: { preset: Preset; seen: SeenRows; id: string | undefined },
): string[] {
  if (!hasUniqueRows(preset)) return []
  const isMerging = preset.equalLines.handling === 'merge'
  const compared = cells.filter(
    (_, at) => !isMerging || isCompared(preset, preset.columns[at]?.[1] ?? 'note'),
  )
  const serialized = JSON.stringify(compared)
  const sameRow = lines.get(serialized)
  lines.set(serialized, sameRow ?? line)
  if (sameRow !== undefined)
    return [`duplicate of line ${sameRow}: it would be imported twice, or not at all`]
  const sameId = id === undefined || id === '' ? undefined : ids.get(id)
  if (id !== undefined) ids.set(id, sameId ?? line)
  return sameId === undefined
    ? []
    : [`the id of line ${sameId}: the program would treat both as the same entry`]
}

/** Checks asset names. Most programs treat names that differ only in case as one asset. */
export function checkName(
  { name, line }: { name: string | undefined; line: number },
  { naming }: Preset,
  seen: SeenRows,
): string[] {
  if (name === undefined || name === '') return []
  const known = seen.names.get(name.toLowerCase())
  if (known === undefined) seen.names.set(name.toLowerCase(), { name, line })
  if (known !== undefined && known.name !== name && naming !== 'caip')
    return [`the program treats asset ${quote(name)} and ${quote(known.name)} of line ${known.line} as one`]
  if (
    naming === 'caip' &&
    !/^((?!.*-[0-9a-f]{8}(-[0-9a-f]{4})?$)[\p{L}\p{N}._-]{1,36}|eip155:\d+\/erc(20|721):0x[0-9a-fA-F]{40}(\/\d+)?)$/u.test(
      name,
    )
  )
    return [`asset ${quote(name)}, expected the identifier of a coin or eip155:<chain>/erc20:<contract>`]
  if (naming === 'placeholder' && /^(NULL|NFT)0?$/i.test(name))
    return [`placeholder ${quote(name)} without its number`]
  return []
}
