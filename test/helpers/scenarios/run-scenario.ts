import { join } from 'node:path'
import { compactOutput } from '../../../src/files/compact.ts'
import type { Place } from '../../load/engines.ts'
import { startObjectStore } from '../object-store.ts'
import { createSeededRandom } from '../seeded-random.ts'
import { growChain, newChain } from './chain-model.ts'
import { checkExport } from './check-export.ts'
import { checkHostileManifest } from './hostile-manifest.ts'
import { runDuringReorg, runIncremental } from './incremental-run.ts'
import { type ListedChain, startListing } from './listing-service.ts'
import { prepareRun } from './prepare-run.ts'
import type { IncrementalRun, Scenario } from './scenario.ts'
import { jobOf, type ScenarioState } from './state.ts'

/** Performs all runs of a scenario in `folder`. Throws if the export or the database that loads it is not as expected. */
export async function runScenario(
  scenario: Scenario,
  { folder, target }: { folder: string; target: Place },
): Promise<void> {
  const state = await startState(scenario, folder)
  try {
    for (const [at, incrementalRun] of scenario.runs.entries()) {
      state.listed.runIndex = at
      await runOnce(state, incrementalRun, target)
    }
  } finally {
    state.service.close()
    state.bucket?.close()
  }
}

async function startState(scenario: Scenario, folder: string): Promise<ScenarioState> {
  const random = createSeededRandom(scenario.seed)
  const chainModel = newChain({ random, wallets: scenario.wallets })
  // A range with an end block lies wholly in the past: no run fetches a complete export again.
  const initialBlocks = scenario.job.endBlock === undefined ? scenario.initialBlocks : 40
  growChain(chainModel, { blocks: initialBlocks, runIndex: 0 })
  const listed: ListedChain = { chainModel, runIndex: 0 }
  return {
    scenario,
    chainModel,
    listed,
    service: await startListing(listed, scenario.service, createSeededRandom(scenario.seed + 1)),
    output: join(folder, 'out'),
    bucket: scenario.publishesTo === 'bucket' ? await startObjectStore() : undefined,
    random,
    current: new Map(chainModel.wallets.map((address, at) => [address, labelOf(scenario, at)])),
    removed: new Map(),
    symbol: null,
    fetched: new Map(),
    finalBefore: 0,
    refetchFrom: 0,
    arePagesLost: false,
    areVersionsMixed: false,
    end: undefined,
  }
}

/** Performs one run with its event, and checks the export after it. */
async function runOnce(state: ScenarioState, incrementalRun: IncrementalRun, target: Place): Promise<void> {
  const { scenario, listed } = state
  const { event } = incrementalRun
  const name = `run ${listed.runIndex + 1} of ${scenario.runs.length}`
  if (event === 'hostile manifest') await checkHostileManifest(state, target)
  const lookbackBlocks = prepareRun(state, incrementalRun)
  if (event === 'reorg during run' && scenario.job.endBlock === undefined)
    await runDuringReorg(state, incrementalRun)
  else await runIncremental(state, incrementalRun, lookbackBlocks)
  await checkExport(state, target, name)
  if (event !== 'compact') return
  await compactOutput(jobOf(state), {})
  await checkExport(state, target, `${name}, compacted`)
}

function labelOf({ job, seed }: Scenario, at: number): string | null {
  return job.labels && (seed + at) % 3 > 0 ? (['savings', '=1+1', 'a, "b"'][(seed + at) % 3] ?? null) : null
}
