import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeAtomically } from '../disk.ts'
import type { ExportError } from '../errors.ts'
import type { Figures } from '../figures.ts'
import type { Job } from '../model.ts'

export type RunReport = {
  id: string
  job: Job
  state: string
  error: ExportError | undefined
  figures: Figures
}

/** Keeps one run's figures in `runs/<run id>.json` of its output. */
export async function writeRunReport(report: RunReport): Promise<void> {
  if (report.error?.code === 'OUTPUT_LOCKED') return
  const folder = join(report.job.output, 'runs')
  await mkdir(folder, { recursive: true })
  await writeAtomically(join(folder, `${report.id}.json`), `${JSON.stringify(summarize(report), null, 2)}\n`)
  await sweepUnfinished(folder)
}

/** Reports that a killed run had begun to write. */
async function sweepUnfinished(folder: string): Promise<void> {
  const left = (await readdir(folder)).filter((name) => /^\.[\w-]+\.json\.part$/.test(name))
  for (const name of left) await rm(join(folder, name), { force: true })
}

/** One job's outcome with stable field names, for `--json` and the run's report. */
export function summarize({ id, job, state, error, figures }: RunReport) {
  const { startedMs, requests, refusals, retries, bytes, pages, items, transactions, rows, files, rejects } =
    figures
  return {
    run: id,
    job: job.name,
    output: job.output,
    state,
    error:
      error === undefined ? null : { code: error.code, exit: error.failure.exit, message: error.message },
    startedAt: new Date(startedMs).toISOString(),
    seconds: Math.round(Date.now() - startedMs) / 1000,
    wallets: job.wallets.length,
    requests,
    rateLimited: refusals,
    retries,
    bytes,
    pages,
    items,
    transactions,
    rows,
    files,
    rejects,
  }
}
