import { runScenarios, withEngines } from '../helpers/scenarios/run-scenarios.ts'
import { testSample } from '../helpers/test-sample.ts'

withEngines()

// More of them, with more runs each: `npm run soak -- scenarios`.
const SEEDS = Array.from({ length: 8 }, (_, at) => 1_000 + at)

testSample(
  1,
  SEEDS,
  'incremental exports of a random job contain the rows of a random chain, seed %i',
  (seed) => runScenarios({ scenarios: 1, seed, maxRuns: 3 }),
)
