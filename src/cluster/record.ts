import { ExportError } from '../core/errors.ts'
import { MANIFEST_FILE, type Manifest, PRIVATE_FOLDER, REJECTS_FILE } from '../core/manifest.ts'
import type { BlockRange, Job } from '../core/model.ts'
import { type Objects, openObjects } from '../store/objects.ts'
import type { PartitionStarts } from './partition-starts.ts'
import { differingSettings, type Plan } from './plan.ts'
import { type Covered, nameCovered, parseCovered } from './unit.ts'

/**
 * What a run has done so far: objects with their ranges in their names, below the output, where all machines see them. Nothing
 * else is the record: a queue may be lost at any time.
 *
 *     plan.json                       the job, its wallets, the pinned end
 *     pages/<wallets>-<blocks>.pages  pages of wallets, as in a checkpoint
 *     starts/<the same>.json          where partitions by time begin, as far as these pages show
 *     partitions/<from>-<to>/         the export of one partition; it counts once its manifest is there
 */
export type Record = Objects

/** Where the record lies in the output. */
export const RECORD_FOLDER = `${PRIVATE_FOLDER}/cluster`

/** Opens the record of the run that an output is written by. */
export const openRecord = (output: Pick<Job, 'output' | 'store'>): Promise<Record> =>
  openObjects(output, RECORD_FOLDER)

const PLAN = 'plan.json'

/** The plan of the run; undefined where none was begun. */
export async function readPlan(record: Record): Promise<Plan | undefined> {
  const text = await record.readText(PLAN)
  return text === undefined ? undefined : (JSON.parse(text) as Plan)
}

/** Keeps the plan of a run. Throws OUTPUT_CHANGED where the record is of another job. */
export async function keepPlan(record: Record, plan: Plan): Promise<void> {
  const before = await readPlan(record)
  if (before !== undefined && before.id !== plan.id) {
    const differing = differingSettings(before, plan)
    const what =
      differing.length > 0 ? `another job, which differs in ${differing.join(', ')}` : 'another version'
    throw new ExportError('OUTPUT_CHANGED', `${plan.job.output} holds an unfinished queue run of ${what}`)
  }
  await record.putText(PLAN, JSON.stringify(plan))
}

/** What the pages in the record cover, in the order of their names. */
export async function listPages(record: Record): Promise<Covered[]> {
  const paths = [...(await record.paths('pages/'))].sort()
  return paths.flatMap((path) => parseCovered(path.slice('pages/'.length)) ?? [])
}

export const pagesPath = (covered: Covered): string => `pages/${nameCovered(covered)}`

const startsPath = (covered: Covered) => `starts/${nameCovered(covered)}.json`

/** Keeps where partitions begin, before the pages that show it count. */
export function keepStarts(record: Record, covered: Covered, starts: PartitionStarts): Promise<void> {
  return record.putText(startsPath(covered), JSON.stringify(starts))
}

/** Where partitions begin, by what all pages show. */
export async function listStarts(record: Record): Promise<PartitionStarts[]> {
  const texts: PartitionStarts[] = []
  for (const covered of await listPages(record))
    texts.push(JSON.parse((await record.readText(startsPath(covered))) ?? '{}') as PartitionStarts)
  return texts
}

/** Partitions whose files are made. */
export async function listPartitions(record: Record): Promise<BlockRange[]> {
  return (await record.paths('partitions/')).flatMap((path) => {
    const [, from, to] = PARTITION_MANIFEST.exec(path) ?? []
    return from === undefined ? [] : [{ from: Number(from), to: Number(to) }]
  })
}

const PARTITION_MANIFEST = /^partitions\/(\d+)-(\d+)\/manifest\.json$/

/** Where the export of a partition lies in the record. */
export const partitionPath = ({ from, to }: BlockRange, path: string): string =>
  `partitions/${from}-${to}/${path}`

/** Keeps the export of a partition, its manifest last; where another worker does the same at once, it is the same. */
export async function keepPartition(
  record: Record,
  range: BlockRange,
  { folder, manifest }: { folder: string; manifest: Manifest },
): Promise<void> {
  const files = Object.values(manifest.tables).flatMap((table) => table.files.map(({ path }) => path))
  const paths = [...files, ...(manifest.rejects > 0 ? [REJECTS_FILE] : []), MANIFEST_FILE]
  for (const path of paths) await record.putFile(partitionPath(range, path), `${folder}/${path}`)
}
