import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { removeSpool } from '../checkpoint/open-checkpoint.ts'
import { REJECTS_FILE } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { GENERATOR } from '../core/model/version.ts'
import { PRIVATE_MODE, readTextIfAny, writeAtomically } from '../core/platform/disk.ts'
import { columnDifferences } from '../core/table/schema-changes.ts'
import { readManifestIfAny } from '../files/publish.ts'
import { privateFolder } from './private-folder.ts'
import { areFilesInPlace, type Sizes } from './resume/find-export.ts'

const DONE_FILE = 'done.json'

/** Notes that this very job is exported, all of it; the pages are needed no more. */
export async function markDone(job: Job): Promise<void> {
  const folder = privateFolder(job)
  await writeAtomically(join(folder, DONE_FILE), `${JSON.stringify({ job: jobKey(job) })}\n`, PRIVATE_MODE)
  await removeSpool(folder)
}

/** Forgets that a job is exported. */
export const forgetDone = (folder: string): Promise<void> => rm(join(folder, DONE_FILE), { force: true })

/** True where this very job, with a fixed end, has been exported here and every listed file is in place. */
export async function isDone(job: Job, store: Sizes): Promise<boolean> {
  if (job.endBlock === undefined) return false
  const done = await readTextIfAny(join(privateFolder(job), DONE_FILE))
  const manifest = await readManifestIfAny(job.output)
  if (done === undefined || manifest === undefined || done.trim() !== JSON.stringify({ job: jobKey(job) }))
    return false
  if (columnDifferences(manifest).length > 0) return false
  const beside = [...(manifest.rejects > 0 ? [REJECTS_FILE] : []), ...(job.keepRaw ? ['raw'] : [])]
  const sizes = await Promise.all(beside.map((path) => store.size(path)))
  return sizes.every((size) => size !== undefined) && (await areFilesInPlace(store, manifest))
}

/** A hash of everything that decides the bytes of an output. */
function jobKey(job: Job): string {
  const {
    file: _file,
    output: _output,
    store: _store,
    concurrency: _concurrency,
    service: _service,
    ...deciding
  } = job
  return createHash('sha256')
    .update(JSON.stringify([GENERATOR, deciding]))
    .digest('hex')
}
