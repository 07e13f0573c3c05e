import { type ExportError, toExportError } from '../core/model/errors.ts'
import { exitCodeOf } from '../export/history/run-report.ts'
import { type RunResult, worstCode } from '../export/run.ts'
import type { LoadableUrl } from '../load/addresses.ts'
import { parseTargetUrl, SHORT_FORMATS } from '../load/addresses.ts'
import { loadInto } from '../load/load.ts'
import type { Log } from '../terminal/log.ts'
import { fetchIfRemote } from './options/output-argument.ts'
import { usageError } from './usage-error.ts'

/** Reads the database of `run --load` from WALLETLAKE_LOAD_TO. Throws USAGE. */
export function readLoadTarget(): LoadableUrl {
  const { WALLETLAKE_LOAD_TO: to = '' } = process.env
  const target = to === '' ? undefined : parseTargetUrl(to, process.env)
  if (target !== undefined && !('names' in target)) return target
  throw usageError(
    `--load needs a database in WALLETLAKE_LOAD_TO, found ${target?.title ?? 'none'}`,
    `Set WALLETLAKE_LOAD_TO to ${SHORT_FORMATS}.`,
  )
}

type LoadJobsOptions = { readonly to: LoadableUrl; readonly log: Log; readonly signal: AbortSignal }

/** Exit codes of jobs whose export is loaded: complete, or complete except for what the run named. */
const LOADED_EXITS: readonly number[] = [0, 6]

/**
 * Loads the exports of a run into a database.
 *
 * @returns the result of the run, in which a job whose load failed has that error
 */
export async function loadJobs(result: RunResult, options: LoadJobsOptions): Promise<RunResult> {
  const jobs: RunResult['jobs'][number][] = []
  for (const job of result.jobs) {
    const error = LOADED_EXITS.includes(exitCodeOf(job)) ? await loadJob(job, options) : undefined
    jobs.push(error === undefined ? job : { ...job, error })
  }
  return { ...result, jobs, code: worstCode(jobs) }
}

async function loadJob(
  { job }: RunResult['jobs'][number],
  { to, log, signal }: LoadJobsOptions,
): Promise<ExportError | undefined> {
  try {
    const { output } = await fetchIfRemote({ output: job.output, store: job.store, job })
    await loadInto(output, to, { signal, onNotice: (message) => log.info(`${job.name}: ${message}`) })
    log.info(`${job.name}: loaded into ${to.title}`)
    return undefined
  } catch (error) {
    return toExportError(error)
  }
}
