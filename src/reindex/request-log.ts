import { createReadStream } from 'node:fs'
import { access, open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { type LoggedRequest, REINDEX_OUTCOMES } from './token.ts'

/** Reads what was remembered, in the order it was; lines that are damaged or of another chain are passed over. */
export async function* readRequestLog(
  path: string,
  { chain, nowMs }: { chain: string; nowMs: number },
): AsyncGenerator<LoggedRequest, void, void> {
  if (!(await exists(path))) return
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    const entry = line.length > MAX_LINE_LENGTH ? undefined : parseEntry(line, chain)
    // A time to come was never remembered by a right clock: it must not silence a token for good.
    if (entry !== undefined && entry.atMs <= nowMs && entry.untilMs <= nowMs + MAX_WAIT_MS) yield entry
  }
}

export type RequestLog = {
  /** Resolves when the operating system has the line: it outlives this process. */
  append(entry: LoggedRequest): Promise<void>
  /** Resolves when all of it is on disk. */
  close(): Promise<void>
}

/** Opens the file for what is to be remembered; it has to end with a whole line. */
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

/** One line of the file, with its end. */
export function formatEntry({ address, id, answer, atMs, untilMs }: LoggedRequest, chain: string): string {
  return `${JSON.stringify({ chain, address, id, answer, atMs, untilMs })}\n`
}

/** No wait that is longer is remembered. */
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
