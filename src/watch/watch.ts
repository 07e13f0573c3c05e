import { join } from 'node:path'
import { ExportError, type FailureCode } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import { raceAbort } from '../core/platform/abort-signal.ts'
import { lockOutput } from '../core/platform/lock/lock.ts'
import type { RetryOptions } from '../core/platform/retry.ts'
import { privateFolder } from '../export/private-folder.ts'
import { type RunResult, run } from '../export/run.ts'
import { type OpenedService, openService } from '../sources/data-api/open-service.ts'
import { formatCount } from '../terminal/format.ts'
import { openEventVerifier, type SecretScheme } from './event-signature.ts'
import { openJobState, reconcileJobWebhooks, type WatchState } from './job-webhooks.ts'
import { startReceiver } from './receiver.ts'
import { createRunScheduler, type RunTrigger, type ScheduleAfter } from './run-scheduler.ts'

export type WatchOptions = {
  /** API key; never stored. */
  apiKey?: string | undefined
  /** Allow sending the key unencrypted over HTTP to another machine. @default false */
  allowPlainHttp?: boolean | undefined
  /** Public URL under which the service reaches the receiver, without query string and trailing slash. */
  receiverUrl: string
  /** Address and port to listen on, for example behind a reverse proxy. Port 0 selects a free port. */
  listen: { host: string; port: number }
  addressesPerWebhook: number
  /** Signature scheme; `none` disables the check. @default any scheme */
  secretScheme?: SecretScheme | 'none' | undefined
  /** The webhook secret. @default fetched from the service */
  secret?: string | undefined
  /** Delay between the end of a run and the next run without any event, in milliseconds. */
  catchUpMs: number
  /** Delay between an event and its run, in milliseconds. */
  debounceMs: number
  /**
   * Blocks at the end of the previous export that each run reads again, for reorgs and late indexing.
   *
   * @default DEFAULT_LOOKBACK
   */
  lookbackBlocks?: number | undefined
  /** The same as a time in milliseconds. */
  lookbackMs?: number | undefined
  retry?: RetryOptions | undefined
  /** Abort with an ExportError to end the watch, and a run in progress, with that error. */
  signal: AbortSignal
  /** Receives one-line notices as they occur. */
  onNotice?: (notice: string) => void
  /** Receives one line for each retry and 429. */
  onDetail?: (detail: string) => void
  /** Receives the receiver's local URL before any event can arrive. */
  onListening?: (url: string) => void
  /** Called after each run. */
  onRun?: (ran: { trigger: RunTrigger; result: RunResult }) => void
  /** @default setTimeout */
  scheduleAfter?: ScheduleAfter
}

/**
 * Keeps a job's export up to date. Webhooks of the service (interface section 6) report activity, and each event triggers a
 * run of the job. Events affect only the time of runs: data always comes from the transaction listing, and regular
 * catch-up runs find what no event reported. The webhooks remain when the watch ends.
 *
 * @returns a promise that never resolves
 * @throws ExportError the reason of `options.signal`, or an error that a retry cannot fix
 */
export async function watchJob(job: Job, options: WatchOptions): Promise<never> {
  requireWatchable(job)
  const folder = join(privateFolder(job), 'watch')
  const release = await lockOutput(folder, 'watching')
  try {
    const service = await openService({
      ...job.service,
      concurrency: job.concurrency,
      apiKey: options.apiKey,
      retry: options.retry,
      allowPlainHttp: options.allowPlainHttp,
      signal: options.signal,
      onDetail: options.onDetail,
      onNotice: options.onNotice,
    })
    try {
      return await watch({ job, options, service })
    } finally {
      await service.close()
    }
  } finally {
    await release()
  }
}

function requireWatchable({ endBlock, service, file }: Job): void {
  if (endBlock !== undefined)
    throw new ExportError('USAGE', `${file}: a job with an endBlock cannot be watched`, {
      fix: 'Remove endBlock from the job.',
    })
  if (service.baseUrl !== 'demo') return
  throw new ExportError('USAGE', `${file}: the demo service never changes and sends no events`, {
    fix: 'Start `walletlake serve --replay 2` and pass its address with --base-url.',
  })
}

type WatchContext = { job: Job; options: WatchOptions; service: OpenedService }

async function watch(context: WatchContext): Promise<never> {
  const { job, options, service } = context
  const state = await openJobState(service, { job, receiverUrl: options.receiverUrl })
  const verifier = await openEventVerifier(service.client, { ...options, onNotice: noticeFor(context) })
  const scheduler = createRunScheduler({
    debounceMs: options.debounceMs,
    catchUpMs: options.catchUpMs,
    finalityMs: job.finalityMs,
    run: async (trigger) => {
      if (trigger === 'start' || trigger === 'catch-up') await updateWebhooks(context, state, trigger)
      return runOnce(context, trigger)
    },
    now: Date.now,
    scheduleAfter: options.scheduleAfter ?? scheduleWithTimer,
  })
  const describeRejection = createRejectionNotices(Date.now)
  const receiver = await startReceiver({
    ...options.listen,
    token: state.token,
    isGenuine: verifier.isGenuine,
    onEvent: () => scheduler.notifyEvent(),
    onRejected: (rejected) => {
      const notice = describeRejection(rejected)
      if (notice !== undefined) noticeFor(context)(notice)
    },
  })
  try {
    options.onListening?.(receiver.url)
    return await raceAbort(scheduler.start(), options.signal)
  } finally {
    await Promise.all([receiver.close(), scheduler.stop()])
  }
}

/** Reconciles the webhooks. Transient errors are only reported, except at the start: the address may be wrong. */
async function updateWebhooks(context: WatchContext, state: WatchState, trigger: RunTrigger): Promise<void> {
  const { job, options, service } = context
  const { receiverUrl, addressesPerWebhook: maxAddresses } = options
  try {
    const reconciliation = { job, receiverUrl, maxAddresses, state }
    const { webhooks, created, changed, dropped } = await reconcileJobWebhooks(service, reconciliation)
    if (trigger !== 'start' && created + changed + dropped === 0) return
    const counts = `${created} created, ${changed} changed, ${dropped} dropped`
    const wallets = formatCount(job.wallets.length, 'wallet')
    noticeFor(context)(`${formatCount(webhooks, 'webhook')} for ${wallets} (${counts})`)
  } catch (error) {
    if (trigger === 'start' || !isTransient(error)) throw error
    noticeFor(context)(`cannot update the webhooks: ${error.message}`)
  }
}

/** Runs the job. Returns false if the run should be retried; throws errors that a retry cannot fix. */
async function runOnce(context: WatchContext, trigger: RunTrigger): Promise<boolean> {
  const { job, options } = context
  const { apiKey, allowPlainHttp, retry, lookbackBlocks, lookbackMs, signal, onNotice, onDetail, onRun } =
    options
  const result = await run([job], {
    apiKey,
    allowPlainHttp,
    lookbackBlocks,
    lookbackMs,
    signal,
    ...(retry === undefined ? {} : { retry }),
    ...(onNotice === undefined ? {} : { onNotice }),
    ...(onDetail === undefined ? {} : { onDetail }),
  })
  onRun?.({ trigger, result })
  const error = result.jobs[0]?.error
  if (error === undefined) return true
  if (!isTransient(error)) throw error
  noticeFor(context)(`the run failed and will be retried: ${error.code}: ${error.message}`)
  return false
}

/** Errors that a later run may not encounter. */
const TRANSIENT: readonly FailureCode[] = [
  'SERVICE_UNAVAILABLE',
  'PAGE_MALFORMED',
  'RATE_LIMITED',
  'OUTPUT_LOCKED',
]

function isTransient(error: unknown): error is ExportError {
  return error instanceof ExportError && TRANSIENT.includes(error.code)
}

function noticeFor({ job, options }: WatchContext): (notice: string) => void {
  return (notice) => options.onNotice?.(`${job.name}: ${notice}`)
}

const scheduleWithTimer: ScheduleAfter = (delayMs, work) => {
  const timer = setTimeout(work, delayMs)
  return () => clearTimeout(timer)
}

/** Minimum time between two notices with the same status, in milliseconds, because anybody can cause them. */
const NOTICE_INTERVAL_MS = 60_000

type RejectedRequest = { status: number; reason: string }

/**
 * Creates a function that describes rejected requests at most once per minute and status, and otherwise returns
 * undefined.
 */
export function createRejectionNotices(now: () => number): (rejected: RejectedRequest) => string | undefined {
  const last = new Map<number, { at: number; suppressed: number }>()
  return ({ status, reason }) => {
    const previous = last.get(status)
    if (previous !== undefined && now() < previous.at + NOTICE_INTERVAL_MS) {
      previous.suppressed += 1
      return undefined
    }
    last.set(status, { at: now(), suppressed: 0 })
    const more =
      previous === undefined || previous.suppressed === 0
        ? ''
        : `; ${previous.suppressed} more since the last notice`
    return `a request to the receiver was rejected with ${status}: ${reason}${more}`
  }
}
