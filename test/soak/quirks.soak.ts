import { test } from 'vitest'
import { checkRandomJob } from '../helpers/quirks/check-quirk-job.ts'

const first = Number(process.env.SOAK_SEED ?? 1)
const seeds = Array.from({ length: Number(process.env.SOAK_JOBS ?? 100) }, (_, at) => first + at)

test.for(seeds)(
  'random jobs are right although the service has quirks, seed %i',
  { timeout: 600_000 },
  (seed) => checkRandomJob(seed),
)
