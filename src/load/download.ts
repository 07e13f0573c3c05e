import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { DOWNLOAD_BYTES_PER_SECOND, DOWNLOAD_IDLE_MS, MAX_MANIFEST_BYTES } from '../core/model/limits.ts'
import { diskError } from '../core/platform/disk.ts'
import { MAX_TIMEOUT_MS } from '../core/platform/max-timeout.ts'
import { proxyFor } from '../core/platform/proxy.ts'
import { RETRY_POLICIES, retry } from '../core/platform/retry.ts'
import { toScratchError } from '../core/platform/scratch-folder.ts'
import { type FetchResponse, fetchWith } from '../http/fetch-url.ts'

export type DownloadOptions = {
  readonly signal: AbortSignal
  /** Delay before the first retry, in milliseconds; it doubles with each retry. @default 500 */
  readonly retryDelayMs?: number | undefined
  /** Maximum time without receiving a byte, in milliseconds. @default 60000 */
  readonly idleMs?: number | undefined
}

/**
 * Downloads a file to disk.
 *
 * @param to the local path, and the maximum number of bytes
 * @throws ExportError OUTPUT_FAILED for disk errors, otherwise LOAD_FAILED; the message contains neither credentials
 * nor the query string
 */
export async function download(
  url: URL,
  to: { path: string; bytes: number },
  options: DownloadOptions,
): Promise<void> {
  await withRetries(url, { ...options, maxBytes: to.bytes }, (chunks, signal) =>
    writeChunks(chunks, to.path, signal),
  )
}

/**
 * Writes the chunks to a file. Throws OUTPUT_FAILED for disk errors, which are not retried, unlike connection errors.
 */
async function writeChunks(chunks: Chunks, path: string, signal: AbortSignal): Promise<void> {
  const file = await open(path, 'w').catch(writeErrorHandler(path))
  try {
    for await (const chunk of chunks) {
      signal.throwIfAborted()
      await file.writeFile(chunk).catch(writeErrorHandler(path))
    }
  } finally {
    await file.close()
  }
}

const writeErrorHandler =
  (path: string) =>
  (cause: unknown): never => {
    throw toScratchError(cause, dirname(path)) ?? diskError(`cannot write ${path}`, cause)
  }

/** Downloads a manifest's text. Throws LOAD_FAILED. */
export async function downloadText(url: URL, options: DownloadOptions): Promise<string> {
  return withRetries(url, { ...options, maxBytes: MAX_MANIFEST_BYTES }, async (chunks) => {
    const parts: Uint8Array[] = []
    for await (const chunk of chunks) parts.push(chunk)
    return Buffer.concat(parts).toString('utf8')
  })
}

type DownloadRetryOptions = DownloadOptions & { readonly maxBytes: number }
type Chunks = AsyncIterable<Uint8Array>

async function withRetries<T>(
  url: URL,
  {
    signal,
    retryDelayMs = RETRY_POLICIES.download.firstDelayMs,
    idleMs = DOWNLOAD_IDLE_MS,
    maxBytes,
  }: DownloadRetryOptions,
  read: (chunks: Chunks, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const readLimited = (response: FetchResponse, stop: AbortSignal) => {
    if (response.body === null) throw new Error('no body')
    return read(limitBytes(response.body, { url, maxBytes }), stop)
  }
  let isRetryable = false
  const fetchOnce = async () => {
    isRetryable = false
    const stop = AbortSignal.any([signal, AbortSignal.timeout(maxDurationMs(maxBytes, idleMs))])
    const outcome = await attempt(url, { signal: stop, idleMs }, readLimited)
    if ('value' in outcome) return outcome.value
    signal.throwIfAborted()
    isRetryable = outcome.isRetryable
    throw downloadError(url, outcome.reason)
  }
  const policy = { ...RETRY_POLICIES.download, firstDelayMs: retryDelayMs }
  return retry(policy, fetchOnce, { isRetryable: () => isRetryable, signal })
}

/** Total time limit of an attempt: a slow connection may never be idle for `idleMs` and still take too long. */
const maxDurationMs = (bytes: number, idleMs: number) =>
  Math.min(MAX_TIMEOUT_MS, idleMs + Math.ceil((bytes / DOWNLOAD_BYTES_PER_SECOND) * 1_000))

/** Passes the chunks of a body through. Throws LOAD_FAILED once it exceeds `maxBytes`. */
async function* limitBytes(
  body: Chunks,
  { url, maxBytes }: { url: URL; maxBytes: number },
): AsyncGenerator<Uint8Array, void, void> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw downloadError(url, `it is larger than the limit of ${maxBytes} bytes`)
    yield chunk
  }
}

type Outcome<T> = { value: T } | { reason: string; isRetryable: boolean }

async function attempt<T>(
  url: URL,
  { signal, idleMs }: { signal: AbortSignal; idleMs: number },
  read: (response: FetchResponse, signal: AbortSignal) => Promise<T>,
): Promise<Outcome<T>> {
  try {
    const { urlWithoutCredentials, headers } = splitCredentials(url)
    return await fetchWith(urlWithoutCredentials, { signal, headers, idleMs }, async (response) => {
      if (response.ok) return { value: await read(response, signal) }
      const { status } = response
      return { reason: `status ${status}`, isRetryable: status === 429 || status >= 500 }
    })
  } catch (error) {
    if (error instanceof ExportError) throw error
    return { reason: downloadErrorReason(error), isRetryable: true }
  }
}

/** Moves a URL's credentials into an Authorization header, because `fetch` rejects URLs with credentials. */
function splitCredentials(url: URL): { urlWithoutCredentials: URL; headers: Record<string, string> } {
  const urlWithoutCredentials = new URL(url)
  const { username, password } = urlWithoutCredentials
  if (username === '' && password === '') return { urlWithoutCredentials, headers: {} }
  urlWithoutCredentials.username = ''
  urlWithoutCredentials.password = ''
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return {
    urlWithoutCredentials,
    headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` },
  }
}

/** Describes an error by its code only: messages of dependencies may contain the whole URL. */
function downloadErrorReason(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const { code, name } = cause as NodeJS.ErrnoException
  if (name === 'TimeoutError' || /^UND_ERR_(HEADERS|BODY|CONNECT)_TIMEOUT$/.test(code ?? ''))
    return `no complete response in time (${code ?? name})`
  return `the connection failed (${code ?? name ?? 'unknown error'})`
}

function downloadError(url: URL, reason: string): ExportError {
  const proxy = proxyFor(url)
  const route = proxy === undefined ? '' : ` through the proxy ${proxy.host} of ${proxy.variable}`
  return new ExportError('LOAD_FAILED', `cannot fetch ${url.origin}${url.pathname}${route}: ${reason}`, {
    fix: 'Check the URL and its permissions, then run the same command again.',
  })
}
