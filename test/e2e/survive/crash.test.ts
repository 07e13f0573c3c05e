import { expect, test } from 'vitest'
import { CRASH_JOBS, type CrashJob } from '../../helpers/crash-jobs.ts'
import {
  baselineOf,
  crashRun,
  type Interruption,
  randomInterruption,
  resumeFromEveryState,
} from '../../helpers/crash-run.ts'
import { createSeededRandom } from '../../helpers/seeded-random.ts'
import { testSample } from '../../helpers/test-sample.ts'

const tiny: CrashJob = {
  what: 'one small wallet and table',
  fields: { ...CRASH_JOBS[0]?.fields, concurrency: 1, tables: ['ledger'], keepRaw: true },
  exit: 0,
}

testSample(
  1,
  ['kill', 'power-cut'] as const,
  'a %s at any durable step loses and duplicates nothing',
  async (event) => {
    expect(await resumeFromEveryState(tiny, event)).toBeGreaterThan(15)
  },
)

test('a process that is killed loses and duplicates nothing', async () => {
  const { steps } = await baselineOf(tiny)
  const rename = steps.findLastIndex((step) => step.startsWith('rename ')) + 1
  expect(await crashRun(tiny, [{ how: 'kill', at: rename }])).toMatchObject({ kills: 1 })
})

test.for(CRASH_JOBS)('$what ends with the same bytes after two kills', { tags: ['long'] }, async (job) => {
  const calm = await baselineOf(job)
  const random = createSeededRandom(job.what.length)
  const early: Interruption = { how: 'torn', at: Math.round(calm.steps.length * (0.1 + random.next() / 2)) }
  const { kills } = await crashRun(job, [early, randomInterruption(calm, random)])
  expect(kills).toBeGreaterThan(0)
})
