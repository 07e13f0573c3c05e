import { availableParallelism } from 'node:os'
import pLimit from 'p-limit'
import { expect, test } from 'vitest'
import { CRASH_JOBS, type CrashJob } from '../../helpers/crash-jobs.ts'
import {
  baselineOf,
  crashRun,
  durableStepsOf,
  type Interruption,
  randomInterruption,
} from '../../helpers/crash-run.ts'
import { createSeededRandom } from '../../helpers/seeded-random.ts'

test.for(CRASH_JOBS)('$what ends with the same bytes after two kills', async (job) => {
  const calm = await baselineOf(job)
  const random = createSeededRandom(job.what.length)
  const early: Interruption = { how: 'torn', at: Math.round(calm.steps.length * (0.1 + random.next() / 2)) }
  const { kills } = await crashRun(job, [early, randomInterruption(calm, random)])
  expect(kills).toBeGreaterThan(0)
})

const tiny: CrashJob = {
  what: 'one small wallet and table',
  fields: { ...CRASH_JOBS[0]?.fields, concurrency: 1, tables: ['ledger'], keepRaw: true },
  exit: 0,
}

/** Every nth durable step is tested here; `npm run soak` tests all. */
const EVERY = 4

test('a kill at a sync or rename loses and duplicates nothing', async () => {
  const together = pLimit(Math.max(2, availableParallelism()))
  const borders = durableStepsOf(await baselineOf(tiny)).filter((_, at) => at % EVERY === 0)
  const reports = await Promise.all(
    borders.map((at) => together(() => crashRun(tiny, [{ how: 'kill', at }]))),
  )
  expect(reports.filter(({ kills }) => kills === 1)).toHaveLength(borders.length)
})
