import { checkExplorerScenario } from '../helpers/explorer-scenario.ts'
import { testSample } from '../helpers/test-sample.ts'

testSample(
  1,
  [1, 2, 3, 4, 5, 6],
  'incremental exports from an explorer equal those from the Data API in spite of faults, seed %i',
  (seed) => checkExplorerScenario(seed),
)
