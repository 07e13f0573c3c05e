import fc from 'fast-check'
import { afterAll, beforeAll } from 'vitest'
import { duckdb, postgres, sqlite } from '../../load/engines.ts'
import { tempFolder } from '../temp-folder.ts'
import { runScenario } from './run-scenario.ts'
import { scenarioArbitrary } from './scenario.ts'

const engines = { duckdb, sqlite, postgres: postgres.skipped ? sqlite : postgres }

export type RunScenariosOptions = {
  scenarios: number
  seed: number
  /** The most that one has. */
  maxRuns: number
  /** Of a scenario that failed before: it alone is played, as it was shrunk. */
  path?: string | undefined
  onCompleted?: (count: number) => void
}

/** Starts and ends what all scenarios of a test file load into. */
export function withEngines(): void {
  for (const engine of Object.values(engines)) {
    beforeAll(engine.start)
    afterAll(engine.stop)
  }
}

/** Plays random scenarios; fails with the seed, the path and the shrunk form of the first that is not as expected. */
export async function runScenarios({
  scenarios,
  seed,
  maxRuns,
  path,
  onCompleted = () => {},
}: RunScenariosOptions): Promise<void> {
  let completed = 0
  const property = fc.asyncProperty(scenarioArbitrary(maxRuns), async (scenario) => {
    await runScenario(scenario, { folder: tempFolder(), target: await engines[scenario.target].place() })
    completed += 1
    onCompleted(completed)
  })
  await fc.assert(property, {
    numRuns: scenarios,
    seed,
    // Shrinking repeats whole scenarios for many minutes; a seed and a path repeat the failure as it is.
    endOnFailure: process.env.SOAK_SHRINK === undefined,
    ...(path === undefined ? {} : { path }),
  })
}
