import { join } from 'node:path'
import { ExportError, type FailureCode } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import { raceAbort } from '../core/platform/abort-signal.ts'
import { lockOutput } from '../core/platform/lock/lock.ts'
import { privateFolder } from '../export/private-folder.ts'
import { type RunResult, run } from '../export/run.ts'
import type { RetryOptions } from '../http/retry.ts'
import { type OpenedService, openService } from '../sources/data-api/open-service.ts'
import { formatCount } from '../terminal/format.ts'
import { openJobState, reconcileJobWebhooks } from './job-webhooks.ts'
import { startReceiver } from './receiver.ts'
import { createRejectionNotices } from './rejection-notices.ts'
import { createRunScheduler, type RunTrigger, type ScheduleAfter } from './run-scheduler.ts'
import type { WatchState } from './watch-state.ts'
import { openEventVerifier, type SecretScheme } from './webhook-secret.ts'

export type WatchOptions = {
  /** The key for the service; never kept anywhere. */
  apiKey?: string | undefined
  /** Send the key unencrypted, over http, to another machine. @default false */
  allowPlainHttp?: boolean | undefined
  /** Where the service reaches this machine, without query and slash at the end. */
  receiverUrl: string
  /** Where events are received, behind whatever leads there; port 0 takes any. */
  listen: { host: string; port: number }
  addressesPerWebhook: number
  /** How events are signed; undefined: in either way; `none`: they are not checked. */
  secretScheme?: SecretScheme | 'none' | undefined
  /** The secret that signs events; undefined: the service is asked for it. */
  secret?: string | undefined
  /** From the end of one run to the next, without any event, in milliseconds. */
  catchUpMs: number
  /** Wait after an event before a run, in milliseconds. */
  debounceMs: number
  /** Blocks at the end of the previous export that each run reads again, for reorgs and late indexing. @default LOOKBACK_BLOCKS */
  lookbackBlocks?: number | undefined
  retry?: RetryOptions | undefined
  /** Aborting it with an ExportError ends the watch, and a run under way, with that error. */
  signal: AbortSignal
  /** One line about something worth knowing, as it happens. */
  onNotice?: (notice: string) => void
  /** One line about each retry and refusal. */
  onDetail?: (detail: string) => void
  /** Told where events are received, before any can come. */
  onListening?: (url: string) => void
  /** Told of each run that ended. */
  onRun?: (ran: { trigger: RunTrigger; result: RunResult }) => void
  /** @default setTimeout */
  scheduleAfter?: ScheduleAfter
}

/**
 * Keeps a job's export up to date: webhooks of the service (interface section 6) say that something has happened, and
 * a run of the job then reads what. Only time depends on events: what is written always comes from the listing, and a
 * run from time to time finds what no event told of. The webhooks stay when it ends.
 *
 * Ends by rejecting with an ExportError only: the signal's, or what no later try can mend.
 */
export async function watchJob(job: Job, options: WatchOptions): Promise<never> {
  requireWatchable(job)
  const folder = join(privateFolder(job), 'watch')
  const release = await lockOutput(folder, 'watching')
  try {
    const service = await openService({
      ...{ ...job.service, concurrency: job.concurrency, apiKey: options.apiKey, retry: options.retry },
      allowPlainHttp: options.allowPlainHttp,
      ...{ signal: options.signal, onDetail: options.onDetail, onNotice: options.onNotice },
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
    throw new ExportError('USAGE', `${file}: a job with an endBlock has an end and cannot be watched`, {
      fix: 'Leave endBlock out of the job.',
    })
  if (service.baseUrl !== 'demo') return
  throw new ExportError('USAGE', `${file}: the demo service stands still and sends no events`, {
    fix: 'Start `walletlake serve --replay 2` and give its address with --base-url.',
  })
}

type WatchContext = { job: Job; options: WatchOptions; service: OpenedService }

async function watch(context: WatchContext): Promise<never> {
  const { job, options, service } = context
  const state = await openJobState(service, { job, receiverUrl: options.receiverUrl })
  const verifier = await openEventVerifier(service.client, { ...options, onNotice: noticeFor(context) })
  const scheduler = createRunScheduler({
    ...{ debounceMs: options.debounceMs, catchUpMs: options.catchUpMs, finalityMs: job.finalityMs },
    run: async (trigger) => {
      if (trigger === 'start' || trigger === 'catch-up') await updateWebhooks(context, { state, trigger })
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

type WebhookUpdate = { state: WatchState; trigger: RunTrigger }

/** Puts the webhooks in order. At the start a fault of the service is thrown too: it may be a wrong address. */
async function updateWebhooks(context: WatchContext, { state, trigger }: WebhookUpdate): Promise<void> {
  const { job, options, service } = context
  const { receiverUrl, addressesPerWebhook: maxAddresses } = options
  try {
    const { webhooks, created, changed, dropped } = await reconcileJobWebhooks(service, {
      ...{ job, receiverUrl, maxAddresses, state },
    })
    if (trigger !== 'start' && created + changed + dropped === 0) return
    const counts = `${created} created, ${changed} changed, ${dropped} dropped`
    const wallets = formatCount(job.wallets.length, 'wallet')
    noticeFor(context)(`${formatCount(webhooks, 'webhook')} for ${wallets} (${counts})`)
  } catch (thrown) {
    if (trigger === 'start' || !isTransient(thrown)) throw thrown
    noticeFor(context)(`webhooks could not be seen to: ${thrown.message}`)
  }
}

/** Runs the job; false where it is to be tried again. Throws what no later try can mend. */
async function runOnce(context: WatchContext, trigger: RunTrigger): Promise<boolean> {
  const { job, options } = context
  const { apiKey, allowPlainHttp, retry, lookbackBlocks, signal, onNotice, onDetail, onRun } = options
  const result = await run([job], {
    ...{ apiKey, allowPlainHttp, lookbackBlocks, signal, ...(retry === undefined ? {} : { retry }) },
    ...(onNotice === undefined ? {} : { onNotice }),
    ...(onDetail === undefined ? {} : { onDetail }),
  })
  onRun?.({ trigger, result })
  const error = result.jobs[0]?.error
  if (error === undefined) return true
  if (!isTransient(error)) throw error
  noticeFor(context)(`the run failed and is tried again: ${error.code}: ${error.message}`)
  return false
}

/** What a later try may mend. */
const TRANSIENT: readonly FailureCode[] = [
  'SERVICE_UNAVAILABLE',
  'PAGE_MALFORMED',
  'RATE_LIMITED',
  'OUTPUT_LOCKED',
]

function isTransient(thrown: unknown): thrown is ExportError {
  return thrown instanceof ExportError && TRANSIENT.includes(thrown.code)
}

function noticeFor({ job, options }: WatchContext): (notice: string) => void {
  return (notice) => options.onNotice?.(`${job.name}: ${notice}`)
}

const scheduleWithTimer: ScheduleAfter = (delayMs, work) => {
  const timer = setTimeout(work, delayMs)
  return () => clearTimeout(timer)
}
