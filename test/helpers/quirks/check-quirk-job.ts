import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Job } from '../../../src/core/model/model.ts'
import { TABLE_NAMES } from '../../../src/core/table/index.ts'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import type { Quirk } from '../../../src/demo-server/quirks.ts'
import { run } from '../../../src/export/run.ts'
import { expectValid } from '../expect-valid.ts'
import { testJob } from '../jobs.ts'
import { startLoopback } from '../loopback.ts'
import { runQueued } from '../queued-runs.ts'
import { readManifest } from '../read-output.ts'
import { tempFolder } from '../temp-folder.ts'
import { expectSameExport, type Gap } from './compare-exports.ts'
import { expectGapsNamed, expectNoGap, expectOverstatedFees } from './expect-reconciled.ts'
import { type QuirkJob, randomQuirkJob } from './quirk-job.ts'

/** Checks the job of a seed; see `checkQuirkJob`. Without a Redis server, no job is run over a queue. */
export const checkRandomJob = (seed: number, redisUrl?: string): Promise<void> =>
  checkQuirkJob(randomQuirkJob(seed), redisUrl)

/**
 * Exports a job from the embedded server with quirks, and without them in one run. Every table must be
 * the same but for what the quirks may show, and every balance must agree with the node's. Where the job leaves gaps,
 * `reconcile` must name the wallets and the options, and with these the export must be right.
 */
export async function checkQuirkJob(plan: QuirkJob, redisUrl?: string): Promise<void> {
  const plain = await exportPlain(plan)
  const quirky = await startService(plan.quirks)
  const job = jobFor(plan, quirky.url)
  for (const [at, head] of plan.heads.entries()) {
    quirky.setHead(head, plan.grows && at < plan.heads.length - 1 ? 20 : 0)
    await exportJob(job, plan, redisUrl)
  }
  await expectVerified(job)
  const gaps = gapsOf(plan, job)
  await expectSameExport({ plan, job, plain, gaps })
  if (gaps.length === 0) return expectNoGap(job)
  if (gaps.every((gap) => gap === 'fees')) await expectOverstatedFees(job, plain)
  else await expectGapsNamed(job, plain, gaps)
  const complete = { ...job, ...closing(gaps) }
  // Jobs with an end block keep no pages that could be upgraded.
  const isFresh = gaps.includes('internals') || job.endBlock !== undefined
  await runToEnd(complete, plan.maxRequests, isFresh)
  await expectVerified(complete)
  await expectSameExport({ plan, job: complete, plain, gaps: [] })
  await expectNoGap(complete)
}

/** What the quirks keep from an export, because of its options. */
function gapsOf({ quirks, fields }: QuirkJob, job: Job): Gap[] {
  const gaps: Record<Gap, boolean> = {
    fees: quirks.includes('fee-cap') && upperBounds(job) > 0,
    internals: quirks.includes('no-internal-receipts') && fields.internals !== 'full',
    atomic: quirks.includes('atomic-transfers') && fields.atomic !== true,
  }
  return (Object.keys(gaps) as Gap[]).filter((gap) => gaps[gap])
}

/** The job fields that close the gaps. */
const closing = (gaps: readonly Gap[]): Partial<Job> => ({
  ...(gaps.includes('fees') && { fees: 'exact' as const }),
  ...(gaps.includes('internals') && { internals: 'full' as const }),
  ...(gaps.includes('atomic') && { atomic: true, tables: TABLE_NAMES }),
})

/** Exports the job in one run from a server without quirks that change an export, with exact fees and all transfers. */
async function exportPlain(plan: QuirkJob): Promise<Job> {
  const { url, setHead } = await startService(plan.quirks.filter((quirk) => quirk === 'atomic-transfers'))
  setHead(plan.heads.at(-1) ?? 0, 0)
  const fees = plan.fields.fees === 'auto' ? 'auto' : 'exact'
  const atomic = plan.fields.atomic === true || plan.quirks.includes('atomic-transfers')
  const job: Job = {
    ...jobFor({ ...plan, fields: { ...plan.fields, atomic } }, url),
    fees,
    feesBudget: 2_000,
  }
  await runToEnd(job, undefined)
  return job
}

function jobFor({ fields }: QuirkJob, baseUrl: string): Job {
  const service = { baseUrl }
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

async function exportJob(job: Job, plan: QuirkJob, redisUrl: string | undefined): Promise<void> {
  if (!plan.isQueued || redisUrl === undefined) return runToEnd(job, plan.maxRequests)
  const { code, error } = await runQueued(redisUrl, job)
  expect([code, error?.message]).toEqual([undefined, undefined])
}

async function runToEnd(job: Job, maxRequests: number | undefined, isFresh = false): Promise<void> {
  for (let stops = 0; stops < MAX_STOPS; stops += 1) {
    const limit = maxRequests === undefined ? {} : { maxRequests }
    const fresh = isFresh && stops === 0 ? { fresh: true } : {}
    const { code, jobs } = await run([job], { retry: { firstDelayMs: 1, maxDelayMs: 2 }, ...limit, ...fresh })
    if (code === 'BUDGET_REACHED') continue
    expect([code, jobs[0]?.error?.message]).toEqual([undefined, undefined])
    return
  }
  throw new Error(`the job made no progress in ${MAX_STOPS} runs`)
}

async function expectVerified({ output }: Job): Promise<void> {
  await expectValid(output)
  expect(existsSync(join(output, 'rejects.ndjson'))).toBe(false)
}

const upperBounds = ({ output }: Job): number => readManifest(output).feesUpperBound ?? 0
