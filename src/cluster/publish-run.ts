import { join } from 'node:path'
import { addCounts } from '../core/model/add-counts.ts'
import { ExportError } from '../core/model/errors.ts'
import { PRIVATE_FOLDER } from '../core/model/manifest.ts'
import type { BlockRange } from '../core/model/model.ts'
import { makePartsFolder, removePartsFolder } from '../core/model/parts-folder.ts'
import { recordWholeExport, type Times } from '../core/model/run-stats.ts'
import { countDecimalsConflicts, uniteDecimals } from '../core/model/token-decimals.ts'
import { sumUnknownsIfPresent } from '../core/model/unknowns.ts'
import type { TableName } from '../core/table/index.ts'
import { publishExport } from '../export/publish-export.ts'
import { partitionOfPath, partPath } from '../files/part-path.ts'
import { type PublishedPart, readManifestIfExists } from '../files/publish.ts'
import {
  gapsOfReads,
  indexedEndsOf,
  openingOfReads,
  type ReadSelection,
  refusedWallets,
} from './read-results.ts'
import { partitionPath, RUN_STATE_FOLDER } from './run-state.ts'
import type { QueueRun } from './shared-requests.ts'
import { type OpenedPartition, openPartition, type WriteResult } from './write-results.ts'

/** Publishes the contiguous partitions as one export, identical to that of one machine. */
export async function publishRun(
  run: QueueRun,
  selection: ReadSelection,
  writes: readonly WriteResult[],
): Promise<void> {
  const { job, plan, runState, stats } = run
  const { begunMs } = plan
  const { reads, end } = selection
  const range = { from: plan.range.from, to: end }
  const partitions: OpenedPartition[] = []
  for (const write of writes) partitions.push(await openPartition(run, write))
  requireContiguous(range, partitions)
  requireAscendingTimes(partitions)
  const rejects = [...new Set(partitions.flatMap((partition) => partition.rejects))].sort()
  const parts = new Map(job.tables.map((table) => [table, partsOf(run, range, table, partitions)]))
  const seen = addCounts(
    partitions.map(({ manifest }) =>
      manifest.coverage.map(({ address, transactions }) => [address, transactions] as const),
    ),
  )
  stats.written = { ...range, times: joinTimes(partitions) }
  const localPath = (part: PublishedPart) =>
    runState.objects.localPath((part.copyFrom ?? '').slice(RUN_STATE_FOLDER.length + 1))
  const staged = await makePartsFolder(join(job.output, PRIVATE_FOLDER))
  await publishExport({
    ...run,
    range,
    begunMs,
    parts,
    seen,
    unknowns: sumUnknownsIfPresent(partitions.map(({ manifest }) => manifest)),
    decimalsConflict: countDecimalsConflicts(uniteDecimals(writes.map(({ decimals }) => decimals))),
    rejects,
    missing: [],
    gaps: gapsOfReads(reads),
    opening: openingOfReads(reads),
    indexedEnds: indexedEndsOf(plan, selection),
    refused: refusedWallets(plan, reads).map((wallet) => ({
      ...wallet,
      toBlock: Math.min(end, wallet.toBlock),
    })),
    localPath,
    raw: () => new Set(),
  })
  await removePartsFolder(staged)
  const manifest = await readManifestIfExists(job.output)
  if (manifest !== undefined) recordWholeExport(stats, manifest)
  stats.transactions = stats.rows.transactions ?? 0
}

/** Throws OUTPUT_FAILED if partitions leave gaps or overlap. */
function requireContiguous(range: BlockRange, partitions: readonly OpenedPartition[]): void {
  const ends = partitions.map(({ write }) => write.to)
  const starts = partitions.map(({ write }) => write.from)
  const isComplete = starts[0] === range.from && ends.at(-1) === range.to
  if (!isComplete || starts.some((from, at) => at > 0 && from !== ends[at - 1]))
    throw new ExportError('OUTPUT_FAILED', 'the partitions of the run leave gaps or overlap')
}

/**
 * Throws TASKS_FAILED if the block times run backwards from one partition to a later one: a task only compares the times of its
 * own blocks.
 */
function requireAscendingTimes(partitions: readonly OpenedPartition[]): void {
  let last: { write: WriteResult; second: number } | undefined
  for (const { write } of partitions) {
    if (write.times === null) continue
    const second = Math.floor(write.times.first / 1000)
    if (last !== undefined && second < last.second)
      throw new ExportError(
        'TASKS_FAILED',
        `block times run backwards from blocks ${rangeText(last.write)} to blocks ${rangeText(write)}`,
        { fix: 'Run this job without --queue: one machine rejects the records with wrong times.' },
      )
    last = { write, second: Math.floor(write.times.last / 1000) }
  }
}

const rangeText = ({ from, to }: BlockRange) => `${from} to ${to - 1}`

function joinTimes(partitions: readonly OpenedPartition[]): Times | undefined {
  const all = partitions.flatMap(({ write }) => write.times ?? [])
  if (all.length === 0) return undefined
  const first = all.reduce((earliest, blocks) => Math.min(earliest, blocks.first), Number.POSITIVE_INFINITY)
  return { first, last: all.reduce((latest, blocks) => Math.max(latest, blocks.last), 0) }
}

/** The files of a table in order, numbered consecutively. A table without rows keeps one empty file. */
function partsOf(
  { job, runState }: QueueRun,
  range: BlockRange,
  table: TableName,
  partitions: readonly OpenedPartition[],
): PublishedPart[] {
  const all = partitions.flatMap(({ write, manifest }) =>
    (manifest.tables[table]?.files ?? []).map((file) => {
      return { ...file, copyFrom: join(RUN_STATE_FOLDER, runState.at(partitionPath(write.token, file.path))) }
    }),
  )
  const nonEmpty = all.filter(({ rows }) => rows > 0)
  return (nonEmpty.length > 0 ? nonEmpty : all.slice(0, 1)).map(
    ({ copyFrom, path, rows, bytes, sha256, notDecimal }, number) => {
      const { format, compression } = job
      const partition = partitionOfPath(path)
      const name = partPath({ table, partition, range, number, format, compression })
      const counts = notDecimal === undefined ? {} : { notDecimal }
      const blocks = { fromBlock: range.from, toBlock: range.to }
      return { copyFrom, path: name, rows, bytes, sha256, ...counts, ...blocks }
    },
  )
}
