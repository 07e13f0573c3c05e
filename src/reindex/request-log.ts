import { createReadStream } from 'node:fs'
import { access, open } from 'node:fs/promises'
import { createInterface } from 'node:readline'

/** An NFT token of an export. */
export type Token = {
  /** Contract address, in lower case. */
  address: string
  /** Token id, as exact decimal digits. */
  id: string
}

/**
 * The outcome of a reindex request. `pending`: it may have taken effect, but no response says so. `unsent`: it certainly had no
 * effect.
 */
export type ReindexOutcome = (typeof REINDEX_OUTCOMES)[number]
const REINDEX_OUTCOMES = ['accepted', 'limited', 'unknown', 'refused', 'pending', 'unsent'] as const

/** An entry of the request log, which persists between runs. */
export type LoggedRequest = Token & {
  answer: ReindexOutcome
  /** Time of the request, in Unix milliseconds. */
  atMs: number
  /** Earliest time of the next request, in Unix milliseconds. */
  untilMs: number
}

/** Reads the log in the order in which it was written. Skips lines that are damaged or of another chain. */
export async function* readRequestLog(
  path: string,
  { chain, nowMs }: { chain: string; nowMs: number },
): AsyncGenerator<LoggedRequest, void, void> {
  if (!(await exists(path))) return
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    const entry = line.length > MAX_LINE_LENGTH ? undefined : parseEntry(line, chain)
    // A time in the future comes from a wrong clock and must not block a token forever.
    if (entry !== undefined && entry.atMs <= nowMs && entry.untilMs <= nowMs + MAX_WAIT_MS) yield entry
  }
}

export type RequestLog = {
  /** Resolves when the operating system has the line, so that it survives a crash of the process. */
  append(entry: LoggedRequest): Promise<void>
  /** Resolves when everything is on disk. */
  close(): Promise<void>
}

/** Opens the log for appending. Its last line must be complete. */
export async function openRequestLog(path: string, chain: string): Promise<RequestLog> {
  const handle = await open(path, 'a', 0o600)
  return {
    append: (entry) => handle.appendFile(formatEntry(entry, chain)),
    close: async () => {
      await handle.sync()
      await handle.close()
    },
  }
}

/** Formats an entry as one line, including the line end. */
export function formatEntry({ address, id, answer, atMs, untilMs }: LoggedRequest, chain: string): string {
  return `${JSON.stringify({ chain, address, id, answer, atMs, untilMs })}\n`
}

/** Maximum waiting time of an entry, in milliseconds. */
export const MAX_WAIT_MS = 86_400_000

const MAX_LINE_LENGTH = 2_000

function parseEntry(line: string, expectedChain: string): LoggedRequest | undefined {
  try {
    const { chain, address, id, answer, atMs, untilMs } = JSON.parse(line) as Record<string, unknown>
    if (chain !== expectedChain || typeof address !== 'string' || typeof id !== 'string') return undefined
    const outcome = REINDEX_OUTCOMES.find((candidate) => candidate === answer)
    if (outcome === undefined || !isTime(atMs) || !isTime(untilMs)) return undefined
    return { address, id, answer: outcome, atMs, untilMs }
  } catch {
    return undefined
  }
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
