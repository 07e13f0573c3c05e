import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Job } from '../../../src/core/model/model.ts'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import type { Quirk } from '../../../src/demo-server/quirks.ts'
import { run } from '../../../src/export/run.ts'
import { verifyOutput } from '../../../src/verify/export/verify-output.ts'
import { testJob } from '../jobs.ts'
import { startLoopback } from '../loopback.ts'
import { readManifest } from '../read-output.ts'
import { tempFolder } from '../temp-folder.ts'
import { expectSameExport } from './compare-exports.ts'
import { expectNoGap, expectOverstatedFees } from './expect-reconciled.ts'
import { type QuirkJob, randomQuirkJob } from './quirk-job.ts'

/** Checks the job of a seed; see `checkQuirkJob`. */
export const checkRandomJob = (seed: number): Promise<void> => checkQuirkJob(randomQuirkJob(seed))

/**
 * Exports a job from the embedded server with quirks, and without them in one run. Every table must be
 * the same but for what the quirks may show, and every balance must agree with the node's. Where fees are upper
 * bounds, `reconcile` must name the wallets and the option with which they agree.
 */
export async function checkQuirkJob(plan: QuirkJob): Promise<void> {
  const plain = await exportPlain(plan)
  const quirky = await startService(plan.quirks)
  const job = jobFor(plan, quirky.url)
  for (const [at, head] of plan.heads.entries()) {
    quirky.setHead(head, plan.grows && at < plan.heads.length - 1 ? 20 : 0)
    await runToEnd(job, plan.maxRequests)
  }
  await expectVerified(job)
  const isOverstated = plan.quirks.includes('fee-cap') && upperBounds(job) > 0
  await expectSameExport({ plan, job, plain, isOverstated })
  if (!isOverstated) return expectNoGap(job)
  await expectOverstatedFees(job, plain)
  const exact = { ...job, fees: 'exact' as const }
  await runToEnd(exact, plan.maxRequests)
  await expectVerified(exact)
  await expectSameExport({ plan, job: exact, plain, isOverstated: false })
  await expectNoGap(exact)
}

/** Exports the job in one run from a server without quirks, with exact fees. */
async function exportPlain(plan: QuirkJob): Promise<Job> {
  const { url, setHead } = await startService([])
  setHead(plan.heads.at(-1) ?? 0, 0)
  const fees = plan.fields.fees === 'auto' ? 'auto' : 'exact'
  const job: Job = { ...jobFor(plan, url), fees, feesBudget: 2_000 }
  await runToEnd(job, undefined)
  return job
}

function jobFor({ fields }: QuirkJob, baseUrl: string): Job {
  const service = { baseUrl, apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000 }
  return testJob({ ...fields, output: tempFolder(), service })
}

/** Starts the embedded server. Its head advances by one block per three requests, over the last `missing` blocks. */
async function startService(quirks: readonly Quirk[]) {
  let [target, missing, since] = [0, 0, 0]
  const head = () => Math.max(0, target - Math.max(0, missing - Math.floor((requests.length - since) / 3)))
  const { url, requests } = await startLoopback(createDataService({ quirks, head }))
  const setHead = (block: number, behind: number) => {
    ;[target, missing, since] = [block, behind, requests.length]
  }
  return { url, setHead }
}

const MAX_STOPS = 100

async function runToEnd(job: Job, maxRequests: number | undefined): Promise<void> {
  for (let stops = 0; stops < MAX_STOPS; stops += 1) {
    const limit = maxRequests === undefined ? {} : { maxRequests }
    const { code, jobs } = await run([job], { retry: { firstDelayMs: 1, maxDelayMs: 2 }, ...limit })
    if (code === 'BUDGET_REACHED') continue
    expect([code, jobs[0]?.error?.message]).toEqual([undefined, undefined])
    return
  }
  throw new Error(`the job made no progress in ${MAX_STOPS} runs`)
}

async function expectVerified({ output }: Job): Promise<void> {
  expect((await verifyOutput(output)).problems).toEqual([])
  expect(existsSync(join(output, 'rejects.ndjson'))).toBe(false)
}

const upperBounds = ({ output }: Job): number => readManifest(output).feesUpperBound ?? 0
