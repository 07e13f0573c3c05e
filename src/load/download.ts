import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { ExportError } from '../core/errors.ts'

export type DownloadOptions = {
  readonly signal: AbortSignal
  /** Wait before the second try, in milliseconds; it doubles from there. @default 500 */
  readonly retryDelayMs?: number | undefined
}

/** Tries of one file. */
const TRIES = 4

/** Brings a file to the disk. Throws LOAD_FAILED, whose message has neither credentials nor query. */
export async function download(url: URL, to: string, options: DownloadOptions): Promise<void> {
  await trying(url, options, async (answer) => {
    if (answer.body === null) throw new Error('no body')
    await pipeline(Readable.fromWeb(answer.body), createWriteStream(to), { signal: options.signal })
  })
}

/** A small file's text. Throws LOAD_FAILED. */
export async function downloadText(url: URL, options: DownloadOptions): Promise<string> {
  return trying(url, options, (answer) => answer.text())
}

async function trying<T>(
  url: URL,
  { signal, retryDelayMs = 500 }: DownloadOptions,
  read: (answer: Response) => Promise<T>,
): Promise<T> {
  for (let turn = 1; ; turn += 1) {
    const outcome = await attempt(url, signal, read)
    if ('value' in outcome) return outcome.value
    signal.throwIfAborted()
    if (!outcome.again || turn === TRIES) throw failure(url, outcome.why)
    await delay(retryDelayMs * 2 ** (turn - 1), undefined, { signal })
  }
}

type Outcome<T> = { value: T } | { why: string; again: boolean }

async function attempt<T>(
  url: URL,
  signal: AbortSignal,
  read: (answer: Response) => Promise<T>,
): Promise<Outcome<T>> {
  try {
    const { bare, headers } = credentialsApart(url)
    const answer = await fetch(bare, { signal, headers })
    if (answer.ok) return { value: await read(answer) }
    await answer.body?.cancel()
    return { why: `status ${answer.status}`, again: answer.status === 429 || answer.status >= 500 }
  } catch (thrown) {
    return { why: faultOf(thrown), again: true }
  }
}

/** `fetch` takes no credentials in an address; they go into a header. */
function credentialsApart(url: URL): { bare: URL; headers: Record<string, string> } {
  const bare = new URL(url)
  const { username, password } = bare
  if (username === '' && password === '') return { bare, headers: {} }
  bare.username = ''
  bare.password = ''
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { bare, headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } }
}

/** The fault's code and nothing else: foreign messages may hold the whole address. */
function faultOf(thrown: unknown): string {
  const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown
  const { code, name } = cause as NodeJS.ErrnoException
  return `the connection failed (${code ?? name ?? 'unknown fault'})`
}

function failure({ origin, pathname }: URL, why: string): ExportError {
  return new ExportError('LOAD_FAILED', `cannot fetch ${origin}${pathname}: ${why}`, {
    fix: 'Check the address and its permissions, then run the same command again.',
  })
}
