import { createReadStream } from 'node:fs'
import { access, open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { ANSWERS, type Asked } from './token.ts'

/** Reads what was remembered, in the order it was; lines that are damaged or of another chain are passed over. */
export async function* readMemory(
  path: string,
  { chain, nowMs }: { chain: string; nowMs: number },
): AsyncGenerator<Asked, void, void> {
  if (!(await exists(path))) return
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    const asked = line.length > LONGEST ? undefined : parseLine(line, chain)
    // A time to come was never remembered by a right clock: it must not silence a token for good.
    if (asked !== undefined && asked.atMs <= nowMs && asked.untilMs <= nowMs + LONGEST_WAIT_MS) yield asked
  }
}

export type Memory = {
  /** Resolves when the operating system has the line: it outlives this process. */
  remember(asked: Asked): Promise<void>
  /** Resolves when all of it is on disk. */
  close(): Promise<void>
}

/** Opens the file for what is to be remembered; it has to end with a whole line. */
export async function openMemory(path: string, chain: string): Promise<Memory> {
  const handle = await open(path, 'a', 0o600)
  return {
    remember: (asked) => handle.appendFile(writeLine(asked, chain)),
    close: async () => {
      await handle.sync()
      await handle.close()
    },
  }
}

/** One line of the file, with its end. */
export function writeLine({ address, id, answer, atMs, untilMs }: Asked, chain: string): string {
  return `${JSON.stringify({ chain, address, id, answer, atMs, untilMs })}\n`
}

/** No wait that is longer is remembered. */
export const LONGEST_WAIT_MS = 86_400_000

const LONGEST = 2_000

function parseLine(line: string, ofChain: string): Asked | undefined {
  try {
    const { chain, address, id, answer, atMs, untilMs } = JSON.parse(line) as Record<string, unknown>
    if (chain !== ofChain || typeof address !== 'string' || typeof id !== 'string') return undefined
    const known = ANSWERS.find((one) => one === answer)
    if (known === undefined || !isTime(atMs) || !isTime(untilMs)) return undefined
    return { address, id, answer: known, atMs, untilMs }
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
