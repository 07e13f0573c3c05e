import { test } from 'vitest'
import { runScenarios, withEngines } from '../helpers/scenarios/run-scenarios.ts'

withEngines()

const SEEDS = Array.from({ length: 60 }, (_, at) => 1_000 + at)

test.for(SEEDS)(
  'an export of a random job holds the rows of a random world, night by night, seed %i',
  { timeout: 300_000 },
  (seed) => runScenarios({ scenarios: 1, seed, maxRuns: 3 }),
)
