import { ExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE } from '../core/model/manifest.ts'
import { isDamagedPage, isPage } from '../transform/merge/record-items.ts'
import type { Plan } from './plan.ts'
import { openPartition } from './publish-run.ts'
import { openReadPages } from './read-pages.ts'
import { findReading, forgetReads, pagesPath, type Read, type Reading } from './read-results.ts'
import { fingerprintsPath, partitionPath, type Record, verifiedPath } from './run-state.ts'
import { WRITES, type Write } from './write-results.ts'

type Attempt = { record: Record; plan: Plan }
type Stored = { reading: Reading; writes: readonly Write[] }

/**
 * After a failure, forgets what of an attempt is not what was noted of it, so that the run reads those pages again and makes
 * those partitions again. Resolves with whether there was any; never throws.
 */
export async function forgetDamaged(
  { record, plan }: Attempt,
  { reading, writes }: Stored,
  thrown: unknown,
): Promise<boolean> {
  const hasDamagedPage = isDamagedPage(thrown)
  const isDamage = hasDamagedPage || (thrown instanceof ExportError && thrown.code === 'OUTPUT_FAILED')
  if (!isDamage) return false
  // What was verified before may have changed since.
  const anew = { ...record, verified: new Map<string, Promise<string>>() }
  try {
    const reads: Read[] = []
    for (const read of reading.reads) if (!(await isReadIntact(anew, read, hasDamagedPage))) reads.push(read)
    const partitions: Write[] = []
    for (const write of writes)
      if (!(await isWriteIntact({ record: anew, plan }, write))) partitions.push(write)
    // Another worker may have found the same, and the pages may have been read again since.
    const isCurrent = (await findReading(record, plan))?.sha256 === reading.sha256
    if (reads.length > 0 && isCurrent) await forgetReads(record, reads)
    for (const { token } of partitions) await WRITES.forget(record, token)
    return reads.length + partitions.length > 0
  } catch {
    return false
  }
}

async function isReadIntact(record: Record, read: Read, checksBodies: boolean): Promise<boolean> {
  if (!(await isStored(record, pagesPath(read.token)))) return false
  try {
    const log = await openReadPages(record, read)
    if (checksBodies)
      for await (const { body } of log.read(({ items }) => items > 0)) if (!isPage(body)) return false
    return true
  } catch {
    return false
  }
}

async function isWriteIntact({ record, plan }: Attempt, write: Write): Promise<boolean> {
  const { token, fingerprints } = write
  const paths = [fingerprintsPath(token), partitionPath(token, MANIFEST_FILE)]
  for (const path of paths) if (!(await isStored(record, path))) return false
  try {
    await verifiedPath(record, fingerprintsPath(token), fingerprints)
    await openPartition({ record, plan }, write)
    return true
  } catch {
    return false
  }
}

/** Whether an object exists. Throws where that cannot be told, or the object cannot be copied to this machine. */
async function isStored({ objects, at }: Record, path: string): Promise<boolean> {
  const exists = (await objects.paths(at(path))).includes(at(path))
  if (exists) await objects.localPath(at(path))
  return exists
}
