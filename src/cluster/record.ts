import { copyFile, link, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { diskError, makeFolder, publishFile, readTextIfAny, writeAtomically } from '../core/disk.ts'
import { ExportError } from '../core/errors.ts'
import { PRIVATE_FOLDER } from '../core/manifest.ts'
import type { BlockRange } from '../core/model.ts'
import type { PartitionStarts } from './partition-starts.ts'
import type { Plan } from './plan.ts'
import { type Covered, nameCovered, parseCovered } from './unit.ts'

/**
 * What a run has done so far: objects with their ranges in their names, in a folder that all machines share. Nothing else
 * is the record: a queue may be lost at any time.
 *
 *     plan.json                       the job, its wallets, the pinned end
 *     pages/<wallets>-<blocks>.pages  pages of wallets, as in a checkpoint
 *     starts/<the same>.json          where partitions by time begin, as far as these pages show
 *     partitions/<from>-<to>/         the export of one partition, whole with its manifest
 */
export type Record = { folder: string }

/** The record of the run that an output is written by. */
export function recordOf(output: string): Record {
  return { folder: join(output, PRIVATE_FOLDER, 'cluster') }
}

/** The plan of the run; undefined where none was begun. */
export async function readPlan({ folder }: Record): Promise<Plan | undefined> {
  const text = await readTextIfAny(join(folder, 'plan.json'))
  return text === undefined ? undefined : (JSON.parse(text) as Plan)
}

/** Keeps the plan of a run. Throws OUTPUT_CHANGED where the record is of another job. */
export async function keepPlan(record: Record, plan: Plan): Promise<void> {
  const before = await readPlan(record)
  if (before !== undefined && before.id !== plan.id)
    throw new ExportError('OUTPUT_CHANGED', `${plan.job.output} holds an unfinished queue run of another job`)
  await makeFolder(record.folder)
  await writeAtomically(join(record.folder, 'plan.json'), JSON.stringify(plan))
}

/** What the pages in the record cover, in the order of their names. */
export async function listPages(record: Record): Promise<Covered[]> {
  const names = (await namesIn(join(record.folder, 'pages'))).sort()
  return names.flatMap((name) => parseCovered(name) ?? [])
}

export const pagesPath = ({ folder }: Record, covered: Covered) => join(folder, 'pages', nameCovered(covered))

/** Puts pages from a local file into the record: all of them or none. */
export async function keepPages(record: Record, covered: Covered, from: string): Promise<void> {
  const to = pagesPath(record, covered)
  const beside = join(record.folder, 'unfinished', `${process.pid}-${nameCovered(covered)}`)
  try {
    await makeFolder(join(record.folder, 'unfinished'))
    await copyFile(from, beside)
    await publishFile(beside, to)
  } catch (cause) {
    throw diskError(`cannot keep pages in ${to}`, cause)
  }
}

const startsPath = ({ folder }: Record, covered: Covered) =>
  join(folder, 'starts', `${nameCovered(covered)}.json`)

/** Keeps where partitions begin, before the pages that show it count. */
export async function keepStarts(record: Record, covered: Covered, starts: PartitionStarts): Promise<void> {
  await makeFolder(join(record.folder, 'starts'))
  const beside = unfinishedFolder(record, `${process.pid}-${nameCovered(covered)}.json`)
  await makeFolder(join(record.folder, 'unfinished'))
  await writeFile(beside, JSON.stringify(starts))
  await publishFile(beside, startsPath(record, covered))
}

/** Where partitions begin, by what all pages show. */
export async function listStarts(record: Record): Promise<PartitionStarts[]> {
  const texts: PartitionStarts[] = []
  for (const covered of await listPages(record))
    texts.push(JSON.parse((await readTextIfAny(startsPath(record, covered))) ?? '{}') as PartitionStarts)
  return texts
}

/** Partitions whose files are made. */
export async function listPartitions({ folder }: Record): Promise<BlockRange[]> {
  const names = await namesIn(join(folder, 'partitions'))
  return names.flatMap((name) => {
    const [, from, to] = /^(\d+)-(\d+)$/.exec(name) ?? []
    return from === undefined ? [] : [{ from: Number(from), to: Number(to) }]
  })
}

export const partitionFolder = ({ folder }: Record, { from, to }: BlockRange) =>
  join(folder, 'partitions', `${from}-${to}`)

/** Where the export of a partition is made before it counts. */
export function unfinishedFolder({ folder }: Record, name: string): string {
  return join(folder, 'unfinished', name)
}

/** Lets the finished export of a partition count; where another worker was first, its is the same. */
export async function keepPartition(record: Record, range: BlockRange, from: string): Promise<void> {
  const to = partitionFolder(record, range)
  await makeFolder(join(record.folder, 'partitions'))
  await rename(from, to).catch(async (cause) => {
    if ((await stat(to).catch(() => undefined)) === undefined) throw diskError(`cannot keep ${to}`, cause)
    await rm(from, { recursive: true, force: true })
  })
}

/** Makes a file appear under a second name; where the file system has no links, it is copied. */
export async function linkFile(from: string, to: string): Promise<void> {
  await mkdir(join(to, '..'), { recursive: true })
  await rm(to, { force: true })
  await link(from, to).catch(() => copyFile(from, to))
}

/** Forgets the run. */
export async function removeRecord({ folder }: Record): Promise<void> {
  await rm(folder, { recursive: true, force: true })
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw diskError(`cannot list ${folder}`, cause)
  }
}
