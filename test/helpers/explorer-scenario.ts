import { join } from 'node:path'
import { expect } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataService } from '../../src/demo-server/data-service.ts'
import type { ExplorerQuirk } from '../../src/demo-server/quirks.ts'
import { type RunOptions, run } from '../../src/export/run.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import { expectEqualColumns } from './explorer-columns.ts'
import { EXPLORER_FAULTS } from './fault-kinds.ts'
import { testJob } from './jobs.ts'
import { startLoopback } from './loopback.ts'
import { demoWallets } from './node-data.ts'
import { createSeededRandom, type SeededRandom } from './seeded-random.ts'
import { randomFaults } from './seeded-run.ts'
import { tempFolder } from './temp-folder.ts'

const LAST_BLOCK = 420
const DIALECTS: readonly { api: 'etherscan' | 'blockscout'; quirk?: ExplorerQuirk }[] = [
  { api: 'etherscan' },
  { api: 'etherscan', quirk: 'free-plan' },
  { api: 'blockscout' },
  { api: 'blockscout', quirk: 'before-9' },
]

/**
 * Exports random wallets of the demo chain from an explorer API, in incremental runs while the chain grows, with faults and
 * interruptions. After each run, the export must be verified, and equal one that a single run makes from the Data API.
 */
export async function checkExplorerScenario(seed: number): Promise<void> {
  const random = createSeededRandom(seed)
  const { api, quirk } = random.pick(DIALECTS)
  const heads = randomHeads(random)
  const folder = tempFolder()
  const services = heads.map((head) =>
    createDataService({ api, head, explorerQuirks: quirk === undefined ? [] : [quirk] }),
  )
  let current = services[0] as DataService
  const { fault } = randomFaults(EXPLORER_FAULTS, {
    random,
    probability: random.pick([0, 0.1, 0.3]),
    maxPerRequest: 2,
  })
  const { url } = await startLoopback({ handle: (request) => current.handle(request) }, fault)
  const fields = randomFields(random)
  const job = testJob({
    ...fields,
    output: join(folder, 'explorer'),
    service: { baseUrl: url, api },
  })
  for (const [at, head] of heads.entries()) {
    current = services[at] as DataService
    await runWithInterruptions(job, random)
    const expected = await exportFromDataApi(fields, { head, output: join(folder, `data-api-${at}`) })
    const { problems } = await verifyOutput(job.output)
    expect({ seed, api, quirk, head, problems }).toEqual({ seed, api, quirk, head, problems: [] })
    await expectEqualColumns(expected.output, job.output, { statesLogIndex: quirk === 'before-9' })
  }
}

type Fields = Parameters<typeof testJob>[0]

/** One to three heads, in ascending order. */
function randomHeads(random: SeededRandom): number[] {
  const earlier = Array.from({ length: random.between(0, 2) }, () => random.between(40, LAST_BLOCK - 1))
  return [...earlier.sort((a, b) => a - b), LAST_BLOCK]
}

function randomFields(random: SeededRandom): Fields {
  const count = random.pick([1, 2, 3, 5, 12])
  const endBlock = random.pick([undefined, undefined, LAST_BLOCK + 1])
  const chosen = demoWallets.filter(() => random.next() < count / demoWallets.length)
  return {
    addresses: [...new Set([...chosen, random.pick(demoWallets)])],
    concurrency: random.between(1, 6),
    startBlock: random.pick([0, 0, 57]),
    // An option that is undefined overrides a default.
    endBlock,
  }
}

async function exportFromDataApi(
  fields: Fields,
  { head, output }: { head: number; output: string },
): Promise<Job> {
  const { url } = await startLoopback(createDataService({ head }))
  const job = testJob({ ...fields, output, service: { baseUrl: url } })
  await runToEnd(job, {})
  return job
}

/** Runs a job that up to two request limits interrupt. */
async function runWithInterruptions(job: Job, random: SeededRandom): Promise<void> {
  for (let left = random.pick([0, 0, 1, 2]); left > 0; left -= 1) {
    const { code } = await run([job], { ...RETRY, maxRequests: random.between(1, 12) })
    expect([undefined, 'BUDGET_REACHED', 'ENDBLOCK_NOT_REACHED']).toContain(code)
  }
  await runToEnd(job, RETRY)
}

const RETRY: RunOptions = { retry: { firstDelayMs: 1, maxDelayMs: 2, retries: 30 } }

async function runToEnd(job: Job, options: RunOptions): Promise<void> {
  const { code, jobs } = await run([job], options)
  expect({ code, message: jobs[0]?.error?.message }).toEqual({ code: undefined, message: undefined })
}
