import { availableParallelism } from 'node:os'
import pLimit from 'p-limit'
import { expect, test } from 'vitest'
import { CRASH_JOBS, type CrashJob } from '../../helpers/crash-jobs.ts'
import {
  baselineOf,
  crashRun,
  durableStepsOf,
  type Interruption,
  kindOfStep,
  randomInterruption,
} from '../../helpers/crash-run.ts'
import { createSeededRandom } from '../../helpers/seeded-random.ts'

const tiny: CrashJob = {
  what: 'one small wallet and table',
  fields: { ...CRASH_JOBS[0]?.fields, concurrency: 1, tables: ['ledger'], keepRaw: true },
  exit: 0,
}

/** Kills runs of the tiny job at these steps. How many steps a run has may vary, so the last ones may not exist. */
async function killAt(steps: readonly number[]): Promise<void> {
  const together = pLimit(availableParallelism())
  const reports = await Promise.all(steps.map((at) => together(() => crashRun(tiny, [{ how: 'kill', at }]))))
  expect(reports.filter(({ kills }) => kills === 1).length).toBeGreaterThan(steps.length / 2)
}

test('a kill at a sync or rename loses and duplicates nothing', async () => {
  const { steps } = await baselineOf(tiny)
  const kinds = new Map(durableStepsOf({ steps }).map((at) => [kindOfStep(steps[at - 1] ?? ''), at]))
  expect(kinds.size).toBeGreaterThan(5)
  await killAt([...kinds.values()])
})

test('a kill at every durable step loses and duplicates nothing', { tags: ['long'] }, async () => {
  await killAt(durableStepsOf(await baselineOf(tiny)))
})

test.for(CRASH_JOBS)('$what ends with the same bytes after two kills', { tags: ['long'] }, async (job) => {
  const calm = await baselineOf(job)
  const random = createSeededRandom(job.what.length)
  const early: Interruption = { how: 'torn', at: Math.round(calm.steps.length * (0.1 + random.next() / 2)) }
  const { kills } = await crashRun(job, [early, randomInterruption(calm, random)])
  expect(kills).toBeGreaterThan(0)
})
