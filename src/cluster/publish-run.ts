import { dirname } from 'node:path'
import { ExportError } from '../core/errors.ts'
import { type Figures, noteWholeExport } from '../core/figures.ts'
import { MANIFEST_FILE, type Manifest, REJECTS_FILE } from '../core/manifest.ts'
import type { BlockRange } from '../core/model.ts'
import { sumCounts } from '../core/sum-counts.ts'
import type { TableName } from '../core/table/index.ts'
import type { Store } from '../store/store.ts'
import { buildManifest } from '../write/build-manifest.ts'
import { partitionOfPath, partPath } from '../write/part-path.ts'
import { type PublishedPart, publish, readManifestIfAny } from '../write/publish.ts'
import type { Plan } from './plan.ts'
import { partitionPath, RECORD_FOLDER, type Record } from './record.ts'

/** Makes one export of the partitions' exports, which lie side by side without a gap: the same as one machine makes. */
export async function publishRun(
  { plan, record, store, figures }: { plan: Plan; record: Record; store: Store; figures: Figures },
  partitions: readonly BlockRange[],
): Promise<void> {
  const { job, range } = plan
  const sorted = [...partitions].sort((a, b) => a.from - b.from)
  const made: Made[] = []
  for (const one of sorted) made.push(await readPartition(record, one))
  const rejects = [...new Set(made.flatMap((one) => one.rejects))].sort()
  const parts = new Map(job.tables.map((table) => [table, partsOf({ plan, table, made })]))
  const seen = sumCounts(
    made.map(({ manifest }) =>
      manifest.coverage.map(({ address, transactions }) => [address, transactions] as const),
    ),
  )
  const manifest = buildManifest({ job, range, parts, seen, missing: [], rejects: rejects.length })
  await publish({ store, manifest, parts: [...parts.values()].flat(), rejects, raw: new Set() })
  noteWholeExport(figures, manifest)
  figures.transactions = figures.rows.transactions ?? 0
}

type Made = { range: BlockRange; manifest: Manifest; rejects: string[] }

async function readPartition(record: Record, range: BlockRange): Promise<Made> {
  const path = await record.localPath(partitionPath(range, MANIFEST_FILE))
  const manifest = await readManifestIfAny(dirname(path))
  if (manifest === undefined) throw new ExportError('OUTPUT_FAILED', `${path} is no manifest`)
  const text = manifest.rejects === 0 ? '' : await record.readText(partitionPath(range, REJECTS_FILE))
  return { range, manifest, rejects: (text ?? '').split('\n').filter((line) => line !== '') }
}

type Joining = { plan: Plan; table: TableName; made: readonly Made[] }

/** The files of a table one after the other, numbered through; a table without rows keeps the one file that says so. */
function partsOf({ plan: { job, range }, table, made }: Joining): PublishedPart[] {
  const all = made.flatMap(({ range: own, manifest }) =>
    (manifest.tables[table]?.files ?? []).map((file) => {
      return { ...file, kept: `${RECORD_FOLDER}/${partitionPath(own, file.path)}` }
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
