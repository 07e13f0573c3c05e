import type { Job } from '../../src/core/model/model.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataService } from '../../src/demo-server/data-service.ts'
import { type RunOptions, run } from '../../src/export/run.ts'
import { testJob } from './jobs.ts'
import { type Fault, startLoopback } from './loopback.ts'
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

export type FaultyResult = Awaited<ReturnType<typeof loopbackRun>>

/** Runs a job against a loopback server of a service, with a fault. Retry delays are 1 to 2 ms. */
export async function loopbackRun(
  { handle }: DataService,
  fault: Fault | undefined,
  jobAt: (baseUrl: string) => Job,
  options?: RunOptions,
) {
  const { url, requests } = await startLoopback({ handle }, fault)
  const job = jobAt(url)
  const result = await run([job], { retry: { firstDelayMs: 1, maxDelayMs: 2 }, ...options })
  /** Empty if there was none. */
  const message = result.jobs[0]?.error?.message ?? ''
  return { ...result, output: job.output, requests, message }
}

/**
 * Leaves out the request whether the service has indexed endBlock. It is not repeated after a malformed response: the run
 * then claims less, in another manifest.
 */
export function exceptProofs(fault: Fault = () => undefined): Fault {
  return (received) => (received.path.includes('/blocks/') ? undefined : fault(received))
}

/** Runs one job against the demo chain with a fault. */
export function faultyRun(fault?: Fault, overrides: FaultyRun = {}): Promise<FaultyResult> {
  const {
    output = tempFolder(),
    concurrency = 4,
    timeoutMs = 120_000,
    options,
    wallets = addresses,
    blocks: [startBlock, endBlock] = [0, 421],
  } = overrides
  const jobAt = (baseUrl: string) => {
    // Without details of transactions, so that tests can count the requests.
    const given = { output, concurrency, startBlock, endBlock, fees: 'listed' } as const
    return testJob({ addresses: wallets, ...given, service: { baseUrl, timeoutMs } })
  }
  return loopbackRun(service, exceptProofs(fault), jobAt, options)
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
