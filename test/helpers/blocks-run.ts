import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { expect } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataService } from '../../src/demo-server/data-service.ts'
import type { RunOptions } from '../../src/export/run.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import { loopbackRun } from './faulty-run.ts'
import { blocksJob } from './jobs.ts'
import type { Fault, ReceivedRequest } from './loopback.ts'
import { outputBytes } from './output-bytes.ts'
import { tempFolder } from './temp-folder.ts'

const service = createDataService()

type Party = { name?: string; address?: string }
type ChainTransaction = Record<string, string | number> & {
  from: Party
  to: Party
  method?: Record<string, string>
}

/** The blocks of the demo chain, read from its data files without the server. */
export const chainBlocks = gunzipSync(
  readFileSync(new URL('../../src/demo-server/chains/43114/blocks.ndjson.gz', import.meta.url)),
)
  .toString()
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as { blockNumber: string; transactions: ChainTransaction[] })

/** The number of the requested block. */
export const blockOf = ({ path }: ReceivedRequest) => Number(path.split('/')[5])

/** Every block of the demo chain, and a hundred blocks, of which block 237 has three pages. */
export const ALL_BLOCKS = { startBlock: 0, endBlock: 421 }
const SOME_BLOCKS = { startBlock: 200, endBlock: 300 }

/** Number of requests that a run of these blocks sends. */
export function requestsFor({ startBlock, endBlock } = SOME_BLOCKS): number {
  return chainBlocks
    .slice(startBlock, endBlock)
    .reduce((sum, { transactions }) => sum + Math.max(1, Math.ceil(transactions.length / 100)), 0)
}

export type BlocksRun = { job?: Partial<Job>; options?: RunOptions; service?: DataService }

/** Runs a block job against a loopback server with a fault. */
export async function blocksRun(fault?: Fault, overrides: BlocksRun = {}) {
  const notices: string[] = []
  const options = { onNotice: (notice: string) => notices.push(notice), ...overrides.options }
  const jobAt = (baseUrl: string) =>
    blocksJob({ ...SOME_BLOCKS, output: tempFolder(), service: { baseUrl }, ...overrides.job })
  return { ...(await loopbackRun(overrides.service ?? service, fault, jobAt, options)), notices }
}

let baseline: Promise<Record<string, string>> | undefined

/** Hashes of the files that the same job writes without faults. */
export function baselineBytes(): Promise<Record<string, string>> {
  baseline ??= blocksRun().then(({ output }) => outputBytes(output))
  return baseline
}

/** Asserts that `verify` finds no problems. */
export async function expectVerified(output: string): Promise<void> {
  expect(await verifyOutput(output)).toMatchObject({ ok: true, problems: [] })
}
