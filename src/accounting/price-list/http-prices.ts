import { parseBaseUrl } from '../../core/model/base-url.ts'
import { ExportError, type FailureCode, toExportError } from '../../core/model/errors.ts'
import { limitConcurrency } from '../../core/platform/limit-concurrency.ts'
import { registerSecret } from '../../core/platform/secrets.ts'
import { createClient } from '../../http/http-client.ts'
import { type RequestContext, request } from '../../http/request.ts'
import { ACCESS_DEFAULTS, startRequests } from '../../sources/service-access.ts'
import type { Environment, PricePoint, PriceSearch, PriceSource, Quote } from './price-source.ts'

/** An HTTP interface that states prices. */
export type HttpPrices = {
  /** The name after `--from`. */
  name: string
  /** The name of the provider in messages. */
  title: string
  /** Without a trailing slash. */
  baseUrl: string
  /** The environment variable whose URL replaces `baseUrl`. */
  baseUrlVariable: string
  /** The key that every request needs. @default none */
  key?: { variable: string; header: string; fix: string }
  /** What the provider allows without payment. */
  requestsPerMinute: number
}

export type HttpPriceSource = HttpPrices & {
  /** See `PriceSource`. */
  currencies: readonly string[]
  /** Divides the points that it can state into requests. `now` is in milliseconds. */
  plan(points: readonly PricePoint[], options: { currency: string; now: number }): PriceRequest[]
}

/** A GET request and its answer. */
export type PriceRequest = {
  /** Below the base URL, with query, encoded. */
  path: string
  /** The points that it asks for. */
  points: readonly PricePoint[]
  /** Returns the prices that the answer states. Throws PAGE_MALFORMED if it is not what the interface defines. */
  read(answer: Buffer): ReadonlyMap<PricePoint, Quote>
}

/** Makes a source of prices of an HTTP interface. */
export function httpPriceSource(source: HttpPriceSource): PriceSource {
  return {
    name: source.name,
    currencies: source.currencies,
    find: async (search) => {
      const { currency, now, onProgress } = search
      const past = search.points.filter(({ time }) => Date.parse(time) <= now)
      const requests = source.plan(past, { currency, now })
      if (requests.length === 0) return
      const predicted = { requests: requests.length, computeUnits: 0, prices: past.length }
      search.onStart({ source: source.title, ...predicted })
      let answers = 0
      await withRequests(source, search, async (get) => {
        const send = async ({ path, points, read }: PriceRequest) => {
          const quotes = await get(path, read, new Map<PricePoint, Quote>())
          for (const point of points) search.add(point, quotes.get(point))
          answers += 1
          onProgress(answers)
        }
        await allUntilError(requests, send)
      })
    },
  }
}

/** Calls `work` for all items at once. After an error no further request is sent, and the first one is thrown at the end. */
async function allUntilError<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = []
  const limit = limitConcurrency(CONCURRENCY)
  const tryItem = async (item: T) => {
    if (failures.length > 0) return
    await work(item).catch((error: unknown) => failures.push(error))
  }
  await Promise.all(items.map((item) => limit(() => tryItem(item))))
  if (failures.length > 0) throw failures[0]
}

/** Requests in flight. The rate limits of free interfaces are lower than what more of them reach. */
const CONCURRENCY = 4

/** Sends one request. Returns `notFound` for a 404. */
type Get = <T>(path: string, read: (answer: Buffer) => T, notFound: T) => Promise<T>

/** What requests depend on. */
export type RequestSearch = Pick<PriceSearch, 'access' | 'env' | 'onOpened'>

/**
 * Opens an HTTP interface for the requests of `work`, with the limits of the search. 429 is waited out, and other temporary
 * errors are retried, as for a data service.
 *
 * @throws USAGE without the key that it needs or with an invalid URL; KEY_REFUSED with the name of the variable
 */
export async function withRequests(
  source: HttpPrices,
  { access, env, onOpened }: RequestSearch,
  work: (get: Get) => Promise<void>,
): Promise<void> {
  const { title } = source
  const baseUrl = baseUrlOf(source, env)
  // Another server has other limits.
  const requestsPerMs = baseUrl === source.baseUrl ? source.requestsPerMinute / 60_000 : undefined
  const apiKey = keyOf(source, env)
  const { maxRequests, deadlineMs, usage, retry, timeoutMs = ACCESS_DEFAULTS.timeoutMs } = access
  const limits = { maxRequests, deadlineMs, usage, retry, signal: access.signal }
  const { onDetail, onNotice, allowPlainHttp } = access
  const started = await startRequests(
    { ...limits, baseUrl, apiKey, onDetail, onNotice },
    { unitsOf: () => 0, perDay: undefined, requestsPerMs: () => requestsPerMs },
  )
  onOpened(started.counts)
  const apiKeyHeader = source.key?.header ?? 'authorization'
  const connection = { timeoutMs, connections: CONCURRENCY, allowPlainHttp }
  const client = createClient({ baseUrl, apiKey, apiKeyHeader, ...connection })
  const context: RequestContext = {
    client,
    rateLimiter: started.rateLimiter,
    limit: (task) => task(),
    signal: started.signal,
    health: { hasResponded: false, lastError: undefined },
    onEvent: started.onEvent,
    ...(retry === undefined ? {} : { retry }),
  }
  try {
    await work(async (path, read, notFound) => {
      const spec = { method: 'GET', pathAndQuery: path, description: `prices of ${title}` } as const
      try {
        return await request(context, spec, read)
      } catch (error) {
        if (error instanceof ExportError && error.status === 404) return notFound
        throw withFix(toExportError(error), source)
      }
    })
  } finally {
    await client.close()
    await started.end()
  }
}

function baseUrlOf({ baseUrl, baseUrlVariable: variable }: HttpPrices, env: Environment): string {
  const given = env[variable]
  if (given === undefined || given === '') return baseUrl
  const url = parseBaseUrl(given)
  if (url !== undefined) return url
  throw new ExportError('USAGE', `${variable} is no URL`, {
    fix: `Set ${variable} to an http or https URL without user, password, query and #, or leave it out.`,
  })
}

function keyOf({ title, key }: HttpPrices, env: Environment): string | undefined {
  if (key === undefined) return undefined
  const given = env[key.variable]?.trim()
  if (given === undefined || given === '')
    throw new ExportError('USAGE', `${title} needs a key, and ${key.variable} is not set`, { fix: key.fix })
  if (!/^[\x21-\x7e]+$/.test(given))
    throw new ExportError('USAGE', `${key.variable} is no key`, {
      fix: `Set ${key.variable} to printable ASCII without spaces and line ends.`,
    })
  registerSecret(given)
  return given
}

/** Replaces the advice for data services by that for sources of prices. */
function withFix(error: ExportError, source: HttpPrices): ExportError {
  const fix = fixOf(error.code, source)
  if (fix === undefined) return error
  const { code, lines, cause, retryAfterMs, status } = error
  return new ExportError(code, lines, {
    fix,
    cause,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status === undefined ? {} : { status }),
  })
}

function fixOf(code: FailureCode, { title, key, baseUrlVariable }: HttpPrices): string | undefined {
  const other = 'or name another source with --from'
  const fixes: Partial<Record<FailureCode, string>> = {
    KEY_REFUSED:
      key === undefined
        ? `${title} refuses requests from here: try again later, ${other}.`
        : `The key was refused. ${key.fix}`,
    REQUEST_REFUSED: `${title} refuses this request, and its message says why: unset ${baseUrlVariable} if it is set, ${other}.`,
    PAGE_MALFORMED: `The answer is none of ${title}: unset ${baseUrlVariable} if it is set, try again later, ${other}.`,
    SERVICE_UNAVAILABLE: `Check the connection, or try again later: prices that were received are kept. Or name another source with --from.`,
  }
  return fixes[code]
}
