import { test } from 'vitest'
import { runQuirkJob } from '../helpers/quirks/run-quirk-job.ts'

// More of them: `npm run soak -- quirks`.
const SEEDS = [1, 2, 3, 4, 5, 6]

test.for(SEEDS)(
  'random jobs are right although the service has quirks, seed %i',
  { timeout: 300_000 },
  (seed) => runQuirkJob(seed),
)
