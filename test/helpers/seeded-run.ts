import type { RunOptions } from '../../src/export/run.ts'
import type { FaultKind } from './fault-kinds.ts'
import { exceptProofs, loopbackRun, service } from './faulty-run.ts'
import { testJob } from './jobs.ts'
import type { Fault } from './loopback.ts'
import { nodeData } from './node-data.ts'
import { outputBytes } from './output-bytes.ts'
import type { SeededRandom } from './seeded-random.ts'
import { tempFolder } from './temp-folder.ts'

/** Four wallets: with five pages, two pages, one page, and one item. */
const addresses = Object.entries(nodeData.membership)
  .filter(([, { items }]) => [403, 101, 60, 1].includes(items))
  .map(([address]) => address.toLowerCase())

/** Maximum number of concurrent requests. */
export const CONCURRENCY = 3

export type SeededRun = {
  output?: string
  fault?: Fault
  timeoutMs?: number | undefined
  options?: RunOptions
  url?: string
}

/** Runs a small job against a server with faults, or at another URL. */
export async function seededRun({
  output = tempFolder(),
  fault,
  timeoutMs = 120_000,
  options,
  url,
}: SeededRun) {
  const jobAt = (baseUrl: string) =>
    testJob({
      addresses,
      output,
      concurrency: CONCURRENCY,
      tables: ['transactions', 'ledger'],
      service: { baseUrl: url ?? baseUrl, timeoutMs },
    })
  const { jobs, requests, ...result } = await loopbackRun(service, exceptProofs(fault), jobAt, options)
  return { ...result, requestLog: requests, stats: jobs[0]?.stats }
}

let baseline: ReturnType<typeof measureBaseline> | undefined

async function measureBaseline() {
  const { output, requestLog: requests } = await seededRun({})
  return { bytes: outputBytes(output), requests: requests.length }
}

/** File hashes of the job without faults. */
export async function baselineBytes(): Promise<Record<string, string>> {
  baseline ??= measureBaseline()
  return (await baseline).bytes
}

/** Number of requests of the job without faults. */
export async function baselineRequests(): Promise<number> {
  baseline ??= measureBaseline()
  return (await baseline).requests
}

export type FaultRate = {
  random: SeededRandom
  /** Probability that a request fails. */
  probability: number
  /** Maximum number of faults per distinct request. */
  maxPerRequest: number
}

/** Applies random faults of these kinds to the first request that they can affect, and to random ones. */
export function randomFaults(kinds: readonly FaultKind[], { random, probability, maxPerRequest }: FaultRate) {
  const broken = new Map<string, number>()
  const fault: Fault = (received) => {
    const kind = random.pick(kinds.filter(({ where }) => where?.(received) !== false))
    const request = `${received.path}?${received.query}`
    const earlierFaults = broken.get(request) ?? 0
    const isChosen = broken.size === 0 || random.next() < probability
    if (kind === undefined || !isChosen || earlierFaults >= maxPerRequest) return undefined
    broken.set(request, earlierFaults + 1)
    return async (response, original) => void (await kind.respond(response, original, received))
  }
  return { fault, count: () => [...broken.values()].reduce((sum, times) => sum + times, 0) }
}
