import { type RunOptions, run } from '../../src/export/run.ts'
import type { FaultKind } from './fault-kinds.ts'
import { service } from './faulty-run.ts'
import { testJob } from './jobs.ts'
import { type Fault, startLoopback } from './loopback.ts'
import { nodeData } from './node-data.ts'
import { outputBytes } from './output-bytes.ts'
import type { SeededRandom } from './seeded-random.ts'
import { tempFolder } from './temp-folder.ts'

/** Four wallets: of five pages, of two, of one and of one item. */
const addresses = Object.entries(nodeData.membership)
  .filter(([, { items }]) => [403, 101, 60, 1].includes(items))
  .map(([address]) => address.toLowerCase())

/** Requests in flight, at most. */
export const CONCURRENCY = 3

export type SeededRun = {
  output?: string
  fault?: Fault
  timeoutMs?: number
  options?: RunOptions
  url?: string
}

/** Runs a small job against a service with faults; waits between tries are of a millisecond. */
export async function seededRun({
  output = tempFolder(),
  fault,
  timeoutMs,
  options,
  ...overrides
}: SeededRun) {
  const { url, requests } = await startLoopback(service, fault)
  const endpoint = {
    baseUrl: overrides.url ?? url,
    apiKeyHeader: 'x-service-api-key',
    timeoutMs: timeoutMs ?? 5_000,
  }
  const job = testJob({
    addresses,
    output,
    concurrency: CONCURRENCY,
    tables: ['transactions', 'ledger'],
    service: endpoint,
  })
  const { code, jobs } = await run([job], { retry: { firstDelayMs: 1, maxDelayMs: 2 }, ...options })
  return { code, output, asked: requests, stats: jobs[0]?.stats, message: jobs[0]?.error?.message ?? '' }
}

let baseline: ReturnType<typeof measureBaseline> | undefined

async function measureBaseline() {
  const { output, asked: requests } = await seededRun({})
  return { bytes: outputBytes(output), requests: requests.length }
}

/** The bytes of the job without any fault. */
export async function baselineBytes(): Promise<Record<string, string>> {
  baseline ??= measureBaseline()
  return (await baseline).bytes
}

/** What the job costs without any fault. */
export async function baselineRequests(): Promise<number> {
  baseline ??= measureBaseline()
  return (await baseline).requests
}

export type FaultRate = {
  random: SeededRandom
  /** How likely it is that a request is broken. */
  probability: number
  /** How often the same request is broken at most. */
  maxPerRequest: number
}

/** Breaks requests that dice choose, each in one of these ways. */
export function randomFaults(kinds: readonly FaultKind[], { random, probability, maxPerRequest }: FaultRate) {
  const broken = new Map<string, number>()
  const fault: Fault = (received) => {
    const kind = random.pick(kinds)
    const request = `${received.path}?${received.query}`
    const earlierFaults = broken.get(request) ?? 0
    if (random.next() >= probability || earlierFaults >= maxPerRequest || kind.where?.(received) === false)
      return undefined
    broken.set(request, earlierFaults + 1)
    return async (response, answer) => void (await kind.respond(response, answer, received))
  }
  return { fault, count: () => [...broken.values()].reduce((sum, times) => sum + times, 0) }
}
