import { test } from 'vitest'
import { runScenarios, withEngines } from '../helpers/scenarios/run-scenarios.ts'

const { SOAK_SCENARIOS, SOAK_SEED, SOAK_PATH = '' } = process.env

withEngines()

test('incremental exports of random jobs contain the rows of a random chain', { timeout: 86_400_000 }, () =>
  runScenarios({
    scenarios: Number(SOAK_SCENARIOS),
    seed: Number(SOAK_SEED),
    maxRuns: 4,
    path: SOAK_PATH === '' ? undefined : SOAK_PATH,
    onCompleted: (count) => count % 25 === 0 && console.log(`${count} scenarios of seed ${SOAK_SEED}`),
  }),
)
