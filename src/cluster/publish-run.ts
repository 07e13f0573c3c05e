import { join } from 'node:path'
import { sumCounts } from '../core/model/add-counts.ts'
import { ExportError } from '../core/model/errors.ts'
import { type Manifest, PRIVATE_FOLDER, REJECTS_FILE } from '../core/model/manifest.ts'
import type { BlockRange, Job } from '../core/model/model.ts'
import { makePartsFolder, removePartsFolder } from '../core/model/parts-folder.ts'
import { type Figures, noteWholeExport, type Times } from '../core/model/run-stats.ts'
import { sumIfCounted } from '../core/model/unknowns.ts'
import type { TableName } from '../core/table/index.ts'
import { publishExport } from '../export/publish-export.ts'
import type { Earlier } from '../export/resume/previous-export.ts'
import { partitionOfPath, partPath } from '../files/part-path.ts'
import { type PublishedPart, readManifestIfAny } from '../files/publish.ts'
import type { Store } from '../storage/store.ts'
import type { Plan } from './plan.ts'
import { type Reading, refusedIn } from './read-results.ts'
import { partitionPath, RECORD_FOLDER, type Record } from './run-state.ts'
import { readPartition, type Write } from './write-results.ts'

export type Publishing = {
  job: Job
  plan: Plan
  record: Record
  store: Store
  figures: Figures
  earlier: Earlier
  signal: AbortSignal
}

/** Makes one export of the partitions' exports, which lie side by side without a gap: the same as one machine makes. */
export async function publishRun(
  publishing: Publishing,
  { reads, end }: Reading,
  writes: readonly Write[],
): Promise<void> {
  const { job, plan, record, figures } = publishing
  const { begunMs } = plan
  const range = { from: plan.range.from, to: end }
  const made: Made[] = []
  for (const write of writes) made.push(await openPartition(publishing, write))
  requireWhole(range, made)
  const rejects = [...new Set(made.flatMap((one) => one.rejects))].sort()
  const parts = new Map(job.tables.map((table) => [table, partsOf({ plan, range, record, table, made })]))
  const seen = sumCounts(
    made.map(({ manifest }) =>
      manifest.coverage.map(({ address, transactions }) => [address, transactions] as const),
    ),
  )
  figures.written = { ...range, times: joinTimes(made) }
  const localPath = (part: PublishedPart) =>
    record.objects.localPath((part.kept ?? '').slice(RECORD_FOLDER.length + 1))
  const staged = await makePartsFolder(join(job.output, PRIVATE_FOLDER))
  await publishExport({
    ...publishing,
    range,
    begunMs,
    parts,
    seen,
    unknowns: sumIfCounted(made.map(({ manifest }) => manifest)),
    rejects,
    missing: [],
    refused: refusedIn(plan, reads).map((one) => ({ ...one, toBlock: Math.min(end, one.toBlock) })),
    localPath,
    raw: () => new Set(),
  })
  await removePartsFolder(staged)
  const manifest = await readManifestIfAny(job.output)
  if (manifest !== undefined) noteWholeExport(figures, manifest)
  figures.transactions = figures.rows.transactions ?? 0
}

type Made = { write: Write; manifest: Manifest; rejects: string[] }

/** A partition's manifest and rejects. Throws OUTPUT_FAILED where they are not what was noted of them. */
export async function openPartition(
  { plan, record }: Pick<Publishing, 'plan' | 'record'>,
  write: Write,
): Promise<Made> {
  const manifest = await readPartition(record, plan, write)
  if (manifest === undefined)
    throw new ExportError('OUTPUT_FAILED', `the partition ${write.token} of the run is none of this job`)
  const path = record.at(partitionPath(write.token, REJECTS_FILE))
  const text = manifest.rejects === 0 ? '' : await record.objects.readText(path)
  const rejects = (text ?? '').split('\n').filter((line) => line !== '')
  if (rejects.length !== manifest.rejects)
    throw new ExportError(
      'OUTPUT_FAILED',
      `${path} has ${rejects.length} lines, expected ${manifest.rejects}`,
    )
  return { write, manifest, rejects }
}

/** Throws OUTPUT_FAILED where partitions leave a gap or overlap. */
function requireWhole(range: BlockRange, made: readonly Made[]): void {
  const ends = made.map(({ write }) => write.to)
  const starts = made.map(({ write }) => write.from)
  const isWhole = starts[0] === range.from && ends.at(-1) === range.to
  if (!isWhole || starts.some((from, at) => at > 0 && from !== ends[at - 1]))
    throw new ExportError('OUTPUT_FAILED', 'the partitions of the run do not lie side by side')
}

function joinTimes(made: readonly Made[]): Times | undefined {
  const all = made.flatMap(({ write }) => write.times ?? [])
  if (all.length === 0) return undefined
  const first = all.reduce((least, one) => Math.min(least, one.first), Number.POSITIVE_INFINITY)
  return { first, last: all.reduce((most, one) => Math.max(most, one.last), 0) }
}

type Joining = { plan: Plan; range: BlockRange; record: Record; table: TableName; made: readonly Made[] }

/** The files of a table one after the other, numbered through; a table without rows keeps the one file that says so. */
function partsOf({ plan: { job }, range, record, table, made }: Joining): PublishedPart[] {
  const all = made.flatMap(({ write, manifest }) =>
    (manifest.tables[table]?.files ?? []).map((file) => {
      return { ...file, kept: join(RECORD_FOLDER, record.at(partitionPath(write.token, file.path))) }
    }),
  )
  const filled = all.filter(({ rows }) => rows > 0)
  return (filled.length > 0 ? filled : all.slice(0, 1)).map(({ kept, path, rows, bytes, sha256 }, number) => {
    const { format, compression } = job
    const partition = partitionOfPath(path)
    const name = partPath({ table, partition, range, number, format, compression })
    return { kept, path: name, rows, bytes, sha256, fromBlock: range.from, toBlock: range.to }
  })
}
