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
  stepAt,
} from '../../helpers/crash-run.ts'
import { createSeededRandom } from '../../helpers/seeded-random.ts'

const tiny: CrashJob = {
  what: 'one small wallet and table',
  fields: { ...CRASH_JOBS[0]?.fields, concurrency: 1, tables: ['ledger'], keepRaw: true },
  exit: 0,
}

/** Kills the tiny job at each of these steps, and asserts that it reached all but those of the log of pages. */
async function killAt(steps: readonly ReturnType<typeof stepAt>[]): Promise<void> {
  const together = pLimit(availableParallelism())
  const reports = await Promise.all(
    steps.map((step) => together(() => crashRun(tiny, [{ how: 'kill', ...step }]))),
  )
  const missed = steps.filter((_, at) => reports[at]?.kills !== 1)
  expect(missed.filter(({ matching }) => !matching.includes('.log'))).toEqual([])
}

test('a kill at a sync or rename loses and duplicates nothing', async () => {
  const calm = await baselineOf(tiny)
  const kinds = new Map(
    durableStepsOf(calm).map((at) => {
      const { matching } = stepAt(calm.steps, at)
      return [matching, { at: 1, matching }]
    }),
  )
  expect(kinds.size).toBeGreaterThan(5)
  const steps = [...kinds.values()].filter(({ matching }) => !matching.includes('.log'))
  // A run that continues reaches every kind of step that the killed ones did not reach.
  const halves = [0, 1].map((half) => steps.filter((_, at) => at % 2 === half))
  const reports = await Promise.all(
    halves.map((half) =>
      crashRun(
        tiny,
        half.map((step) => ({ how: 'kill', ...step })),
      ),
    ),
  )
  expect(reports.map(({ kills }) => kills)).toEqual(halves.map(({ length }) => length))
})

test('a kill at every durable step loses and duplicates nothing', { tags: ['long'] }, async () => {
  const calm = await baselineOf(tiny)
  await killAt(durableStepsOf(calm).map((at) => stepAt(calm.steps, at)))
})

test.for(CRASH_JOBS)('$what ends with the same bytes after two kills', { tags: ['long'] }, async (job) => {
  const calm = await baselineOf(job)
  const random = createSeededRandom(job.what.length)
  const early: Interruption = { how: 'torn', at: Math.round(calm.steps.length * (0.1 + random.next() / 2)) }
  const { kills } = await crashRun(job, [early, randomInterruption(calm, random)])
  expect(kills).toBeGreaterThan(0)
})
