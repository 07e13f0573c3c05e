import { test } from 'vitest'
import { runScenarios, withEngines } from '../helpers/scenarios/run-scenarios.ts'

withEngines()

// More of them, with more runs each: `npm run soak -- scenarios`.
const SEEDS = Array.from({ length: 8 }, (_, at) => 1_000 + at)

test.for(SEEDS)(
  'incremental exports of a random job contain the rows of a random chain, seed %i',
  { timeout: 300_000 },
  (seed) => runScenarios({ scenarios: 1, seed, maxRuns: 3 }),
)
