import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { type RunOptions, run } from '../../src/export/run.ts'
import { testJob } from './jobs.ts'
import { type Fault, type Loopback, startLoopback } from './loopback.ts'
import { demoWallets } from './node-data.ts'
import { outputBytes } from './output-bytes.ts'
import { tempFolder } from './temp-folder.ts'

export const service = createDataService()

/** A wallet with five pages, another one with two, which share transactions, and one without transactions. */
export const addresses = [2, 35, 36].map((at) => demoWallets[at] ?? '')

/** The largest wallet, which has a block of more than one page (237), and an empty wallet. */
export const withLargeBlock = [44, 36].map((at) => demoWallets[at] ?? '')

export type FaultyRun = {
  /** @default addresses */
  wallets?: readonly string[]
  /** First block and end block. @default all blocks */
  blocks?: readonly [number, number]
  /** An output folder to continue in. @default a new one */
  output?: string
  concurrency?: number
  timeoutMs?: number
  options?: RunOptions
}

export type FaultyResult = Awaited<ReturnType<typeof run>> & {
  output: string
  requests: Loopback['requests']
  /** Message of the job's error; empty if there was none. */
  message: string
}

/**
 * Leaves out the request whether the service has indexed endBlock. It is not repeated after a malformed response: the run
 * then claims less, in another manifest.
 */
export function exceptProofs(fault: Fault = () => undefined): Fault {
  return (received) => (received.path.includes('/blocks/') ? undefined : fault(received))
}

/** Runs one job against a loopback server with a fault. Retry delays are 1 to 2 ms. */
export async function faultyRun(fault?: Fault, overrides: FaultyRun = {}): Promise<FaultyResult> {
  const {
    output = tempFolder(),
    concurrency = 4,
    timeoutMs = 120_000,
    options,
    wallets = addresses,
    blocks: [startBlock, endBlock] = [0, 421],
  } = overrides
  const { url, requests } = await startLoopback(service, exceptProofs(fault))
  const endpoint = { baseUrl: url, apiKeyHeader: 'x-service-api-key', timeoutMs }
  // Without details of transactions, so that tests can count the requests.
  const given = { output, concurrency, startBlock, endBlock, service: endpoint, fees: 'listed' } as const
  const job = testJob({ addresses: wallets, ...given })
  const result = await run([job], { retry: { firstDelayMs: 1, maxDelayMs: 2 }, ...options })
  return { ...result, output, requests, message: result.jobs[0]?.error?.message ?? '' }
}

let baseline: Promise<{ bytes: Record<string, string>; requests: number }> | undefined

/** File hashes and number of requests of the same job without faults. */
export function baselineRun() {
  baseline ??= faultyRun().then(({ output, requests }) => ({
    bytes: outputBytes(output),
    requests: requests.length,
  }))
  return baseline
}
