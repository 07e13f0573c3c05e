import type { ManifestFile } from '../../core/model/manifest.ts'
import type { BlockRange } from '../../core/model/model.ts'
import { largest } from '../../core/platform/extremes.ts'
import { numberOfPath, partitionOfPath } from '../part-path.ts'

export type CompactionLimits = {
  /** Rows in a file, at most. */
  maxRows: number
  /** No file is to hold blocks from both sides of it. */
  lookback: number
}

/** A file that stays as it is, or files that become fewer ones, of these blocks and numbered from there. */
export type CompactionStep =
  | { kind: 'keep'; file: ManifestFile }
  | {
      kind: 'merge'
      files: readonly ManifestFile[]
      partition: string | undefined
      range: BlockRange
      firstNumber: number
    }

/**
 * Says which of a table's files, in their order, are merged. Full files at the start of a stretch stay, so that a long
 * table is not written again and again; only files of the same partition and the same side of the border are merged. New
 * names are no earlier names: what the earlier manifest lists stays whole until the new one is there.
 */
export function planCompaction(
  files: readonly ManifestFile[],
  { maxRows, lookback }: CompactionLimits,
): CompactionStep[] {
  return groupForMerge(files, lookback).flatMap((group) => planGroup(group, maxRows))
}

/** Files that may become one: they follow each other, in one partition, on one side of the border. */
function groupForMerge(files: readonly ManifestFile[], lookback: number): ManifestFile[][] {
  const groups: ManifestFile[][] = []
  const groupKey = ({ path, toBlock }: ManifestFile) => `${toBlock <= lookback} ${partitionOfPath(path)}`
  for (const file of files) {
    const last = groups.at(-1)
    if (last?.[0] !== undefined && groupKey(last[0]) === groupKey(file)) last.push(file)
    else groups.push([file])
  }
  return groups
}

function planGroup(group: readonly ManifestFile[], maxRows: number): CompactionStep[] {
  const firstPartial = group.findIndex(({ rows }) => rows !== maxRows)
  const full = firstPartial < 0 ? group : group.slice(0, firstPartial)
  const files = group.slice(full.length)
  const keep = (file: ManifestFile): CompactionStep => ({ kind: 'keep', file })
  const rows = files.reduce((sum, file) => sum + file.rows, 0)
  const isCompact = files.length <= Math.ceil(rows / maxRows) && files.every((file) => file.rows <= maxRows)
  const [first, last] = [files[0], files.at(-1)]
  if (first === undefined || last === undefined || isCompact || (files.length === 1 && rows <= maxRows))
    return group.map(keep)
  const range = { from: first.fromBlock, to: largest(files.map(({ toBlock }) => toBlock)) }
  const sameRange = [
    ...full.filter(({ fromBlock }) => fromBlock === range.from),
    ...files.filter(({ fromBlock, toBlock }) => fromBlock === range.from && toBlock === range.to),
  ]
  const firstNumber =
    1 +
    largest(
      sameRange.map(({ path }) => numberOfPath(path)),
      -1,
    )
  const partition = partitionOfPath(first.path)
  return [...full.map(keep), { kind: 'merge', files, partition, range, firstNumber }]
}
