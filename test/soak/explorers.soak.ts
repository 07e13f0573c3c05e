import { test } from 'vitest'
import { checkExplorerScenario } from '../helpers/explorer-scenario.ts'

const first = Number(process.env.SOAK_SEED ?? 1)
const seeds = Array.from({ length: Number(process.env.SOAK_SCENARIOS ?? 200) }, (_, at) => first + at)

test.for(seeds)(
  'exports from an explorer equal those from the Data API, seed %i',
  { timeout: 600_000 },
  (seed) => checkExplorerScenario(seed),
)
