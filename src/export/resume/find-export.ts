import { ExportError } from '../../core/model/errors.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import type { Job } from '../../core/model/model.ts'
import { readManifestBackup, readManifestIfExists, requireSafeManifest } from '../../files/publish.ts'
import { outputName } from '../../storage/bucket-url.ts'
import type { Store } from '../../storage/store.ts'

/** An export that lies in a job's output, and that the job goes on with. */
export type FoundExport = {
  manifest: Manifest
  /** Files of blocks from this one on are gone or not of the size that is listed; Infinity: all are as listed. */
  intactTo: number
  /** A run was cut short while it replaced files of the same names: some are its own by now. */
  isBackup: boolean
}

/**
 * The export in a job's output; undefined where there is none. Throws OUTPUT_CHANGED where it is another job's, and VERIFY_FAILED
 * where its manifest has a path that leads out of the output.
 */
export async function findExport(job: Job, store: Store): Promise<FoundExport | undefined> {
  await requireSafeManifest(job.output)
  const present = await readManifestIfExists(job.output)
  const manifest = present ?? (await readManifestBackup(job.output))
  if (manifest === undefined) return undefined
  requireSameJob(job, manifest)
  return {
    manifest,
    intactTo: await firstDamagedBlock(store, manifest),
    isBackup: present === undefined,
  }
}

/** Throws OUTPUT_CHANGED where rows of the job do not fit those of the export. */
function requireSameJob(job: Job, { job: exported, tables }: Manifest): void {
  const changes = FIXED_SETTINGS.flatMap((key) => {
    const [previous, current] = [exported[key] ?? DEFAULT_SETTINGS[key], job[key] ?? DEFAULT_SETTINGS[key]]
    return previous === current ? [] : [`${key} was ${previous} and is ${current}`]
  })
  const missing = job.tables.filter((table) => tables[table] === undefined)
  if (missing.length > 0) changes.push(`tables lacked ${missing.join(', ')}`)
  const removed = Object.keys(tables).filter((table) => job.tables.every((name) => name !== table))
  if (removed.length > 0) changes.push(`tables had ${removed.join(', ')}`)
  if (changes.length === 0) return
  throw new ExportError(
    'OUTPUT_CHANGED',
    `${outputName(job)} contains an export of another job: ${changes.join(', ')}`,
    {
      fix: 'Choose another --output, or start over with --fresh.',
    },
  )
}

const FIXED_SETTINGS = ['kind', 'chain', 'startBlock', 'endBlock', 'format', 'partitionBy'] as const
/** What is meant where a job or manifest does not say it. */
const DEFAULT_SETTINGS = {
  ...{ kind: 'wallets', endBlock: 'the head', partitionBy: 'none' },
  ...{ chain: undefined, startBlock: undefined, format: undefined },
}

/** True where every listed file is there with its size. */
export async function areFilesInPlace(store: FileSizes, manifest: Manifest): Promise<boolean> {
  return (await firstDamagedBlock(store, manifest)) === Number.POSITIVE_INFINITY
}

/** What tells the bytes of published files. */
export type FileSizes = Pick<Store, 'size'>

async function firstDamagedBlock(store: FileSizes, { tables }: Manifest): Promise<number> {
  const files = Object.values(tables).flatMap(({ files }) => files)
  const sizes = await Promise.all(files.map(({ path }) => store.size(path)))
  const damaged = files.filter(({ bytes }, at) => bytes !== sizes[at])
  return damaged.reduce((first, { fromBlock }) => Math.min(first, fromBlock), Number.POSITIVE_INFINITY)
}
