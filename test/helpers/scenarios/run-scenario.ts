import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { compactOutput } from '../../../src/files/compact/compact.ts'
import { verifyOutput } from '../../../src/verify/export/verify-output.ts'
import type { Place } from '../../load/engines.ts'
import { createSeededRandom } from '../seeded-random.ts'
import { addressOf, ageBlocks, delayIndexing, growChain, newChain, reorg } from './chain-model.ts'
import { checkExport, coverageOf } from './check-export.ts'
import { runDuringReorg, runIncremental } from './incremental-run.ts'
import { type ListedChain, startListing } from './listing-service.ts'
import type { IncrementalRun, Scenario } from './scenario.ts'
import type { ScenarioState } from './state.ts'

/** Last blocks of an export that every run reads again. */
const LOOKBACK_BLOCKS = 32

/**
 * Executes all runs of a scenario in `folder`. Throws if the export, or the database that loads it, is not as expected.
 */
export async function runScenario(
  scenario: Scenario,
  { folder, target }: { folder: string; target: Place },
): Promise<void> {
  const random = createSeededRandom(scenario.seed)
  const chainModel = newChain({ random, wallets: scenario.wallets })
  // A job with an endBlock needs all of its blocks at the start, because a complete export is not read again.
  growChain(chainModel, { blocks: scenario.job.endBlock === undefined ? 12 : 40, runIndex: 0 })
  const listed: ListedChain = { chainModel, runIndex: 0 }
  const service = await startListing(listed, scenario.service, createSeededRandom(scenario.seed + 1))
  const output = join(folder, 'out')
  const current = new Map(chainModel.wallets.map((address, at) => [address, labelOf(scenario, at)]))
  const state: ScenarioState = {
    scenario,
    chainModel,
    listed,
    service,
    output,
    random,
    current,
    removed: new Map(),
    symbol: null,
    finalBefore: 0,
    end: undefined,
  }
  try {
    for (const [at, incrementalRun] of scenario.runs.entries()) {
      listed.runIndex = at
      const lookbackBlocks = prepareRun(state, incrementalRun)
      if (incrementalRun.event === 'reorg during run' && scenario.job.endBlock === undefined)
        await runDuringReorg(state, incrementalRun)
      else await runIncremental(state, incrementalRun, lookbackBlocks)
      await checkExport(state, target, `run ${at + 1} of ${scenario.runs.length}`)
      if (incrementalRun.event === 'compact') {
        await compactOutput(output, {})
        await checkExport(state, target, `run ${at + 1}, compacted`)
      }
    }
    expect((await verifyOutput(output)).problems).toEqual([])
  } finally {
    service.close()
  }
}

function labelOf({ job, seed }: Scenario, at: number): string | null {
  return job.labels && (seed + at) % 3 > 0 ? (['savings', '=1+1', 'a, "b"'][(seed + at) % 3] ?? null) : null
}

/** Applies the changes before a run to the chain and the job. Returns the lookback of the run, if not the default. */
function prepareRun(state: ScenarioState, { newBlocks, event, depth }: IncrementalRun): number | undefined {
  const { chainModel, listed, random, current, removed, end, scenario } = state
  ageBlocks(chainModel)
  const isFirst = end === undefined
  // For a removed wallet, it is undefined whether delayed transactions are read: that depends on the other wallets.
  const hasDelayed = chainModel.blocks.some(({ transactions }) =>
    transactions.some(({ since }) => since === listed.runIndex),
  )
  const head = chainModel.blocks.length
  let lookbackBlocks: number | undefined
  const lowest = Math.max(state.finalBefore, (end ?? 0) - LOOKBACK_BLOCKS + 1, head - depth, 1)
  if (event === 'reorg' && !isFirst && scenario.job.endBlock === undefined)
    reorg(chainModel, lowest, listed.runIndex)
  if (event === 'longer lookback' && !isFirst && scenario.job.endBlock === undefined) {
    lookbackBlocks = 40 + depth
    reorg(chainModel, Math.max(state.finalBefore, end - lookbackBlocks + 1, 1), listed.runIndex)
  }
  growChain(chainModel, { blocks: newBlocks, runIndex: listed.runIndex })
  if (event === 'delayed indexing' && scenario.job.endBlock === undefined)
    delayIndexing(
      chainModel,
      Math.max(state.finalBefore, end ?? 0, chainModel.blocks.length - 9),
      listed.runIndex + 1,
    )
  if (event === 'lost checkpoint' && !isFirst && !hasDelayed) {
    rmSync(join(state.output, '.walletlake'), { recursive: true, force: true })
    state.finalBefore = end
  }
  const [first] = current.keys()
  if (event === 'remove wallet' && !isFirst && !hasDelayed && current.size > 1 && first !== undefined) {
    removed.set(
      first,
      coverageOf(state, first, {
        label: current.get(first) ?? null,
        toBlock: end,
        runIndex: listed.runIndex - 1,
      }),
    )
    current.delete(first)
    state.finalBefore = Math.max(state.finalBefore, end)
  }
  if (event === 'add wallet') {
    const [readded] = removed.keys()
    const address = readded ?? addressOf(`newcomer ${listed.runIndex}`)
    removed.delete(address)
    current.set(address, random.next() < 0.5 ? null : 'back')
  }
  if (event === 'change labels')
    for (const address of current.keys())
      if (random.next() < 0.5) current.set(address, `name ${listed.runIndex}`)
  if (event === 'change symbol') state.symbol = random.pick(['AVAX', 'COIN', null])
  return lookbackBlocks
}
