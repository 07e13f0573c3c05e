import { test } from 'vitest'
import { checkExplorerScenario } from '../helpers/explorer-scenario.ts'

test.for([1, 2, 3, 4, 5, 6])(
  'incremental exports from an explorer equal those from the Data API in spite of faults, seed %i',
  (seed) => checkExplorerScenario(seed),
)
