import type { ManifestFile } from '../../core/model/manifest.ts'
import type { BlockRange } from '../../core/model/model.ts'
import { largest } from '../../core/platform/extremes.ts'
import { numberOfPath, partitionOfPath } from '../part-path.ts'

export type CompactionLimits = {
  /** Maximum number of rows in a file. */
  maxRows: number
  /** First block that a run can read again. No merged file contains blocks on both sides of it. */
  lookback: number
}

/** Keeps one file, or merges several into fewer. `range` and `firstNumber` go into the names of the merged files. */
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
 * Plans which files of a table, given in order, are merged. Full files at the start of a group are kept, so that a long
 * table is not rewritten every time. Only consecutive files of the same partition and on the same side of the lookback
 * block are merged. New names differ from existing ones, so the files of the old manifest stay intact until the new
 * manifest replaces it.
 */
export function planCompaction(
  files: readonly ManifestFile[],
  { maxRows, lookback }: CompactionLimits,
): CompactionStep[] {
  return groupForMerge(files, lookback).flatMap((group) => planGroup(group, maxRows))
}

/** Groups consecutive files that may be merged: those of one partition, on one side of the lookback block. */
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
