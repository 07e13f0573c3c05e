import { ExportError } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import type { Figures } from '../core/model/run-stats.ts'
import { type KeyUse, requireEncryptedKey } from '../core/model/service-key.ts'
import { type Client, createClient } from '../http/http-client.ts'
import type { Gate } from '../http/rate-limit/rate-limiter.ts'
import type { Requester } from '../http/request.ts'
import { askedWait, describeRequest, type RequestEvent } from '../http/request-events.ts'
import type { RetryOptions } from '../http/retry.ts'

export type Asking = {
  /** The key for the service; undefined: none. */
  apiKey?: string | undefined
  /** Send it unencrypted, over http, to another machine. @default false */
  allowPlainHttp?: boolean | undefined
  /** Where the embedded service is, for a job that names it. */
  demoUrl: string | undefined
  gate: Gate
  limit: Requester['limit']
  signal: AbortSignal
  retry?: RetryOptions | undefined
  /** Counts every request, in place. */
  figures: Figures
  /** Called before each request; what it throws ends the job. */
  spend: () => void
  /** Told how long the service asks to wait; what it returns is passed to `onNotice`. */
  noteWait: (askedMs: number) => string | undefined
  /** One line about each retry and refusal. */
  onDetail?: ((detail: string) => void) | undefined
  /** One line about what keeps the service from answering, once for each cause. */
  onNotice?: ((notice: string) => void) | undefined
}

/** Opens the way to a job's service; `close` ends its connections. */
export function openRequester(
  job: Job,
  asking: Asking,
): { requester: Requester; close: () => Promise<void> } {
  const { gate, limit, signal, retry, figures, onDetail } = asking
  const noteTrouble = troubleTeller(asking, job.name)
  const client = clientFor(job, asking)
  const standing = figures.service
  const onEvent = (event: RequestEvent) => {
    count(figures, event, asking.spend)
    noteTrouble(event)
    noteWait(asking, event, job.name)
    const detail = describeRequest(event)
    if (detail !== undefined) onDetail?.(detail)
  }
  const requester = {
    client,
    gate,
    limit,
    signal,
    standing,
    onEvent,
    ...(retry === undefined ? {} : { retry }),
  }
  return { requester, close: () => client.close() }
}

function noteWait({ noteWait, onNotice }: Asking, event: RequestEvent, name: string): void {
  const askedMs = askedWait(event)
  const notice = askedMs === undefined ? undefined : noteWait(askedMs)
  if (notice !== undefined) onNotice?.(`${name}: ${notice}`)
}

/** Tells a cause once: at once before the service ever answered, later where it lasts. */
function troubleTeller({ figures, onNotice }: Asking, name: string): (event: RequestEvent) => void {
  const told = new Set<string>()
  return (event) => {
    if (event.kind !== 'retried' || told.has(event.reason)) return
    if (figures.service.hasAnswered && event.failures < LASTING_FAILURES) return
    told.add(event.reason)
    onNotice?.(`${name}: ${event.reason}; asking again`)
  }
}

/** A request that failed so often in a row is more than a moment's trouble. */
const LASTING_FAILURES = 3

/** Throws USAGE where the job names no service, or the key would be sent to it unencrypted. */
export function requireService({ service, file }: Job, key: Omit<KeyUse, 'baseUrl'>): void {
  requireEncryptedKey({ ...key, baseUrl: service.baseUrl })
  if (service.baseUrl !== undefined) return
  throw new ExportError('USAGE', `${file}: no service is named`, {
    fix: 'Set service.baseUrl in the job, WALLETLAKE_BASE_URL or --base-url; `demo` is the embedded service.',
  })
}

function clientFor({ service, concurrency }: Job, { demoUrl, apiKey, allowPlainHttp }: Asking): Client {
  const { baseUrl = '', apiKeyHeader, timeoutMs } = service
  const shared = { apiKeyHeader, timeoutMs, connections: concurrency }
  if (baseUrl === 'demo') return createClient({ ...shared, baseUrl: demoUrl ?? '', apiKey: undefined })
  return createClient({ ...shared, baseUrl, apiKey, allowPlainHttp })
}

function count(figures: Figures, event: RequestEvent, spend: () => void): void {
  if (event.kind === 'sent') {
    spend()
    figures.requests += 1
  } else if (event.kind === 'answered') figures.bytes += event.bytes
  else if (event.kind === 'refused') figures.refusals += 1
  else if (event.kind === 'retried') figures.retries += 1
}
