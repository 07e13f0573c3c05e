import fc from 'fast-check'
import { afterAll, beforeAll } from 'vitest'
import { duckdb, postgres, sqlite } from '../../load/engines.ts'
import { tempFolder } from '../temp-folder.ts'
import { play } from './run-scenario.ts'
import { scenariosOf } from './scenario.ts'

const engines = { duckdb, sqlite, postgres: postgres.skipped ? sqlite : postgres }

export type Playing = {
  scenarios: number
  seed: number
  /** The most that one has. */
  nights: number
  /** Of a scenario that failed before: it alone is played, as it was shrunk. */
  path?: string | undefined
  onPlayed?: (count: number) => void
}

/** Starts and ends what all scenarios of a test file load into. */
export function withEngines(): void {
  for (const engine of Object.values(engines)) {
    beforeAll(engine.start)
    afterAll(engine.stop)
  }
}

/** Plays random scenarios; fails with the seed, the path and the shrunk form of the first that is not as expected. */
export async function playMany({
  scenarios,
  seed,
  nights,
  path,
  onPlayed = () => {},
}: Playing): Promise<void> {
  let played = 0
  const property = fc.asyncProperty(scenariosOf(nights), async (scenario) => {
    await play(scenario, { folder: tempFolder(), place: await engines[scenario.target].place() })
    played += 1
    onPlayed(played)
  })
  await fc.assert(property, {
    numRuns: scenarios,
    seed,
    ...(path === undefined
      ? { endOnFailure: process.env.SOAK_QUICK !== undefined }
      : { path, endOnFailure: true }),
  })
}
