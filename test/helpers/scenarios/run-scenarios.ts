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
  /** Maximum number of runs per scenario. */
  maxRuns: number
  /** Path of a scenario that failed before: only that scenario is run. */
  path?: string | undefined
  onCompleted?: (count: number) => void
}

/** Starts and stops the databases that all scenarios of a test file load into. */
export function withEngines(): void {
  for (const engine of Object.values(engines)) {
    beforeAll(engine.start)
    afterAll(engine.stop)
  }
}

/**
 * Runs random scenarios. A failure reports the seed and path of the first failing scenario; with SOAK_SHRINK in the
 * environment, also its shrunk form.
 */
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
