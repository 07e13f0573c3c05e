import { createHash } from 'node:crypto'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { crawl } from './crawl.ts'
import { readTextIfAny, writeAtomically } from './disk.ts'
import { type ExportError, toExportError } from './errors.ts'
import type { Asker } from './fetch/request.ts'
import type { Figures } from './figures.ts'
import { PRIVATE_FOLDER, REJECTS_FILE } from './manifest.ts'
import type { Job } from './model.ts'
import { lockOutput } from './spool/lock.ts'
import { openSpool, removeSpool, type Spool } from './spool/spool.ts'
import type { SpoolIdentity } from './spool/state.ts'
import { GENERATOR } from './version.ts'
import { readManifestIfAny } from './write/publish.ts'
import { openOutput } from './write-output.ts'

export type JobRun = {
  job: Job
  asker: Asker
  figures: Figures
  /** Forget checkpoints and start over. */
  fresh: boolean
  onNotice: (notice: string) => void
}

export type JobResult = {
  job: Job
  /** `complete`: all files are there. `unchanged`: they were there already. */
  state: 'complete' | 'unchanged' | 'failed'
  error: ExportError | undefined
}

/** Runs one job to its end. Never throws: a failure is part of the result, and what was received stays for a resume. */
export async function exportJob(run: JobRun): Promise<JobResult> {
  const { job } = run
  try {
    const release = await lockOutput(privateFolder(job))
    try {
      return { job, state: await exportLocked(run), error: undefined }
    } finally {
      await release()
    }
  } catch (thrown) {
    return { job, state: 'failed', error: toExportError(thrown) }
  } finally {
    run.figures.phase = 'done'
  }
}

async function exportLocked({ job, asker, figures, fresh, onNotice }: JobRun): Promise<JobResult['state']> {
  const folder = privateFolder(job)
  if (fresh) await forget(folder)
  else if (await isDone(job)) {
    await recallFigures(job, figures)
    return 'unchanged'
  }
  const spool = await openSpool({
    folder,
    identity: spoolIdentity(job),
    now: Date.now(),
    onDamage: ({ bytes, kept }) => onNotice(describeDamage(job, bytes, kept)),
  })
  try {
    if (spool.resumed) onNotice(`${job.name}: an unfinished run is continued`)
    await readAndWrite({ job, asker, figures, spool })
  } finally {
    await spool.close()
  }
  await writeAtomically(join(folder, DONE_FILE), `${JSON.stringify({ job: jobKey(job) })}\n`)
  await removeSpool(folder)
  return 'complete'
}

type Export = Pick<JobRun, 'job' | 'asker' | 'figures'> & { spool: Spool }

async function readAndWrite({ job, asker, figures, spool }: Export): Promise<void> {
  const output = await openOutput({ job, spool, figures, signal: asker.signal })
  try {
    figures.phase = 'reading'
    const end = await crawl({ job, asker, spool, figures, onPage: output.pageArrived })
    figures.phase = 'writing'
    figures.share = 1
    await output.finish({ from: job.startBlock, to: end })
  } finally {
    await output.close()
  }
}

function describeDamage({ name }: Job, bytes: number, kept: string | undefined): string {
  const what = `${name}: the checkpoint ended in ${bytes} damaged bytes; what they held is asked for again`
  return kept === undefined ? what : `${what}; they were set aside as ${kept}`
}

/** What pages must have in common with a job to be continued by it. */
export function spoolIdentity({ chain, startBlock, endBlock, finalityMs }: Job): SpoolIdentity {
  return { chain, startBlock, endBlock: endBlock ?? null, finalityMs }
}

/** Where a job's output keeps its checkpoint and lock. */
export function privateFolder({ output }: Job): string {
  return join(output, PRIVATE_FOLDER)
}

const DONE_FILE = 'done.json'

async function forget(folder: string): Promise<void> {
  await removeSpool(folder)
  await rm(join(folder, DONE_FILE), { force: true })
}

/** True where this very job, with a fixed end, has been exported here and every listed file is in place. */
export async function isDone(job: Job): Promise<boolean> {
  if (job.endBlock === undefined) return false
  const done = await readTextIfAny(join(privateFolder(job), DONE_FILE))
  const manifest = await readManifestIfAny(job.output)
  if (done === undefined || manifest === undefined || done.trim() !== JSON.stringify({ job: jobKey(job) }))
    return false
  const files = Object.values(manifest.tables).flatMap(({ files }) => files)
  const beside = [...(manifest.rejects > 0 ? [REJECTS_FILE] : []), ...(job.keepRaw ? ['raw'] : [])]
  const sizes = await Promise.all(
    [...files.map(({ path }) => path), ...beside].map((path) => sizeOf(join(job.output, path))),
  )
  return sizes.every((size, at) => size !== undefined && size === (files[at]?.bytes ?? size))
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size
}

/** What an earlier run wrote, for the summary and the exit code of this one. */
async function recallFigures(job: Job, figures: Figures): Promise<void> {
  const manifest = await readManifestIfAny(job.output)
  const tables = Object.entries(manifest?.tables ?? {})
  figures.rows = Object.fromEntries(tables.map(([table, { rows }]) => [table, rows]))
  figures.files = tables.reduce((sum, [, { files }]) => sum + files.length, 0)
  figures.rejects = manifest?.rejects ?? 0
}

/** A hash of everything that decides the bytes of an output. */
function jobKey(job: Job): string {
  const { file: _file, output: _output, concurrency: _concurrency, service: _service, ...deciding } = job
  return createHash('sha256')
    .update(JSON.stringify([GENERATOR, deciding]))
    .digest('hex')
}
