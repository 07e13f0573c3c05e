import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import { type Indexed, inTurn, startCatchingUp, walletAt } from '../helpers/catching-up.ts'
import { runOnce } from '../helpers/growing-chain.ts'
import { testJob } from '../helpers/jobs.ts'
import { readCsvTable, readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const WALLETS = 120
const HOUR = 3_600_000

const addresses = Array.from({ length: WALLETS }, (_, at) => walletAt(at))

async function start(indexed: Indexed, api: 'data-api' | 'etherscan' = 'data-api', fields: Partial<Job> = {}) {
  const { url, requests } = await startCatchingUp(indexed, api)
  const service = { baseUrl: url, api, apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000 }
  const finalityMs = api === 'etherscan' ? 600_000 : 0
  const common = { endBlock: undefined, concurrency: 4, finalityMs, output: tempFolder() }
  const { wallets: _, ...rest } = { wallets: undefined, ...fields }
  return { requests, job: testJob({ addresses, service, ...common, ...rest }) }
}

/** The blocks within the coverage of their wallets that an export lacks. */
async function missingIn(job: Job, { transfers, headAfter }: Indexed, head = headAfter(Number.MAX_SAFE_INTEGER)) {
  const blocks = new Set((await readCsvTable(job.output, 'transactions')).map((row) => Number(row.block_number)))
  const ends = new Map(readManifest(job.output).coverage.map(({ address, toBlock }) => [address, toBlock]))
  const claimed = transfers.filter(({ block, to }) => block < (ends.get(to) ?? 0) && block <= head)
  return claimed.filter(({ block }) => !blocks.has(block)).length
}

const rowsOf = async (job: Job) => (await readCsvTable(job.output, 'transactions')).length

for (const api of ['data-api', 'etherscan'] as const)
  test(`an index that catches up while a run reads loses nothing: ${api}`, async () => {
    const transfers = inTurn(4_000, { wallets: WALLETS, startMs: Date.now() - 12 * HOUR, blockMs: 2_000 })
    const answers = api === 'etherscan' ? 5 * WALLETS : WALLETS
    const indexed = { transfers, headAfter: (n: number) => 2_000 + Math.min(2_000, (2_000 * n) / answers) }
    const { job } = await start(indexed, api)
    await runOnce(job)
    expect(await missingIn(job, indexed)).toBe(0)
    const { coverage, completeToBlock } = readManifest(job.output)
    expect(completeToBlock).toBe(Math.min(...coverage.map(({ toBlock }) => toBlock)))
    await runOnce(job)
    expect(await rowsOf(job)).toBe(4_000)
    await runOnce(job)
    expect(readManifest(job.output)).toMatchObject({ completeToBlock: 4_001 })
    expect([await rowsOf(job), await missingIn(job, indexed)]).toEqual([4_000, 0])
    expect((await verifyOutput(job.output)).problems).toEqual([])
  })
