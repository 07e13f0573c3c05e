import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { type RunOptions, run } from '../../src/export/run.ts'
import { testJob } from './jobs.ts'
import { type Fault, type Loopback, startLoopback } from './loopback.ts'
import { nodeData } from './node-data.ts'
import { outputBytes } from './output-bytes.ts'
import { tempFolder } from './temp-folder.ts'

export const service = createDataService()

const bySize = Object.entries(nodeData.membership).sort(([, a], [, b]) => b.items - a.items)
/** A wallet of some nine pages, one of three, and one of a single page. */
export const addresses = [1, 2, -1].map((at) => (bySize.at(at)?.[0] ?? '').toLowerCase())

/** The whale with the last of these: some block of it needs two pages. */
export const withLargeWallet = [0, -1].map((at) => (bySize.at(at)?.[0] ?? '').toLowerCase())

export type FaultyRun = {
  /** Wallets; the usual ones where they are absent. */
  wallets?: readonly string[]
  /** An output to go on in; a new one where it is absent. */
  output?: string
  concurrency?: number
  timeoutMs?: number
  options?: RunOptions
}

export type FaultyResult = Awaited<ReturnType<typeof run>> & {
  output: string
  requests: Loopback['requests']
  /** The message of the job's error; empty where there was none. */
  message: string
}

/** Runs one job against a loopback server with a fault; waits between tries are of a millisecond. */
export async function faultyRun(fault?: Fault, overrides: FaultyRun = {}): Promise<FaultyResult> {
  const {
    output = tempFolder(),
    concurrency = 4,
    timeoutMs = 5_000,
    options,
    wallets = addresses,
  } = overrides
  const { url, requests } = await startLoopback(service, fault)
  const endpoint = { baseUrl: url, apiKeyHeader: 'x-service-api-key', timeoutMs }
  const job = testJob({ addresses: wallets, output, concurrency, service: endpoint })
  const result = await run([job], { retry: { firstDelayMs: 1, maxDelayMs: 2 }, ...options })
  return { ...result, output, requests, message: result.jobs[0]?.error?.message ?? '' }
}

let baseline: Promise<{ bytes: Record<string, string>; requests: number }> | undefined

/** What the same job gives, and costs, without any fault. */
export function baselineRun() {
  baseline ??= faultyRun().then(({ output, requests }) => ({
    bytes: outputBytes(output),
    requests: requests.length,
  }))
  return baseline
}
