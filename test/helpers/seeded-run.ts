import { type RunOptions, run } from '../../src/export/run.ts'
import type { FaultKind } from './fault-kinds.ts'
import { service } from './faulty-run.ts'
import { testJob } from './jobs.ts'
import { type Fault, startLoopback } from './loopback.ts'
import { truth } from './node-data.ts'
import { outputBytes } from './output-bytes.ts'
import type { Dice } from './seeded-random.ts'
import { tempFolder } from './temp-folder.ts'

/** Four wallets: of five pages, of two, of one and of one item. */
const addresses = Object.entries(truth.membership)
  .filter(([, { items }]) => [403, 101, 60, 1].includes(items))
  .map(([address]) => address.toLowerCase())

/** Requests in flight, at most. */
export const READERS = 3

export type SeededRun = {
  output?: string
  fault?: Fault
  timeoutMs?: number
  options?: RunOptions
  url?: string
}

/** Runs a small job against a service with faults; waits between tries are of a millisecond. */
export async function seededRun({ output = tempFolder(), fault, timeoutMs, options, ...given }: SeededRun) {
  const { url, asked } = await startLoopback(service, fault)
  const endpoint = {
    baseUrl: given.url ?? url,
    apiKeyHeader: 'x-service-api-key',
    timeoutMs: timeoutMs ?? 5_000,
  }
  const job = testJob({
    addresses,
    output,
    concurrency: READERS,
    tables: ['transactions', 'ledger'],
    service: endpoint,
  })
  const { code, jobs } = await run([job], { retry: { firstDelayMs: 1, maxDelayMs: 2 }, ...options })
  return { code, output, asked, figures: jobs[0]?.figures, message: jobs[0]?.error?.message ?? '' }
}

let calm: ReturnType<typeof measureCalm> | undefined

async function measureCalm() {
  const { output, asked } = await seededRun({})
  return { bytes: outputBytes(output), requests: asked.length }
}

/** The bytes of the job without any fault. */
export async function calmBytes(): Promise<Record<string, string>> {
  calm ??= measureCalm()
  return (await calm).bytes
}

/** What the job costs without any fault. */
export async function calmRequests(): Promise<number> {
  calm ??= measureCalm()
  return (await calm).requests
}

export type Seeding = {
  dice: Dice
  /** How likely it is that a request is broken. */
  share: number
  /** How often the same request is broken at most. */
  most: number
}

/** Breaks requests that dice choose, each in one of these ways. */
export function breakSeeded(kinds: readonly FaultKind[], { dice, share, most }: Seeding) {
  const broken = new Map<string, number>()
  const fault: Fault = (asked) => {
    const kind = dice.pick(kinds)
    const request = `${asked.path}?${asked.query}`
    const before = broken.get(request) ?? 0
    if (dice.next() >= share || before >= most || kind.where?.(asked) === false) return undefined
    broken.set(request, before + 1)
    return async (response, answer) => void (await kind.broken(response, answer, asked))
  }
  return { fault, count: () => [...broken.values()].reduce((sum, times) => sum + times, 0) }
}
