import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { compactOutput } from '../../../src/files/compact/compact.ts'
import { verifyOutput } from '../../../src/verify/export/verify-output.ts'
import type { Place } from '../../load/engines.ts'
import { createDice } from '../seeded-random.ts'
import { addressOf, ageBlocks, delay, growWorld, newWorld, reorganise } from './chain-model.ts'
import { check, coveredOf } from './check-export.ts'
import { runNight, runShifted } from './incremental-run.ts'
import { type Shown, startListing } from './listing-service.ts'
import type { Night, Scenario } from './scenario.ts'
import type { Play } from './state.ts'

/** Blocks at the end of an export that every night reads again. */
const BORDER = 32

/** Plays all nights of a scenario in `folder`; throws where the export, or what was loaded of it, is not as expected. */
export async function play(
  scenario: Scenario,
  { folder, place }: { folder: string; place: Place },
): Promise<void> {
  const dice = createDice(scenario.seed)
  const world = newWorld({ dice, wallets: scenario.wallets })
  // What has an end lies wholly in the past: a complete export is not asked for again.
  growWorld(world, { blocks: scenario.job.endBlock === undefined ? 12 : 40, night: 0 })
  const shown: Shown = { world, night: 0 }
  const service = await startListing(shown, scenario.service, createDice(scenario.seed + 1))
  const output = join(folder, 'out')
  const present = new Map(world.wallets.map((address, at) => [address, labelOf(scenario, at)]))
  const state: Play = {
    scenario,
    world,
    shown,
    service,
    output,
    dice,
    present,
    gone: new Map(),
    symbol: null,
    settled: 0,
    end: undefined,
  }
  try {
    for (const [at, night] of scenario.nights.entries()) {
      shown.night = at
      const lookbackBlocks = prepare(state, night)
      if (night.event === 'shifted' && scenario.job.endBlock === undefined) await runShifted(state, night)
      else await runNight(state, night, lookbackBlocks)
      await check(state, place, `night ${at + 1} of ${scenario.nights.length}`)
      if (night.event === 'compact') {
        await compactOutput(output, {})
        await check(state, place, `night ${at + 1}, compacted`)
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

/** Lets the chain and the job change; resolves with how many blocks the night is to read again. */
function prepare(state: Play, { grows, event, depth }: Night): number | undefined {
  const { world, shown, dice, present, gone, end, scenario } = state
  ageBlocks(world)
  const isFirst = end === undefined
  // What came late of a wallet that leaves is read or not, as its blocks are written again for others.
  const hasLate = world.blocks.some(({ transactions }) =>
    transactions.some(({ since }) => since === shown.night),
  )
  const head = world.blocks.length
  let reread: number | undefined
  const lowest = Math.max(state.settled, (end ?? 0) - BORDER + 1, head - depth, 1)
  if (event === 'reorg' && !isFirst && scenario.job.endBlock === undefined)
    reorganise(world, lowest, shown.night)
  if (event === 'reread' && !isFirst && scenario.job.endBlock === undefined) {
    reread = 40 + depth
    reorganise(world, Math.max(state.settled, end - reread + 1, 1), shown.night)
  }
  growWorld(world, { blocks: grows, night: shown.night })
  if (event === 'late' && scenario.job.endBlock === undefined)
    delay(world, Math.max(state.settled, end ?? 0, world.blocks.length - 9), shown.night + 1)
  if (event === 'lost' && !isFirst && !hasLate) {
    rmSync(join(state.output, '.walletlake'), { recursive: true, force: true })
    state.settled = end
  }
  const [first] = present.keys()
  if (event === 'leave' && !isFirst && !hasLate && present.size > 1 && first !== undefined) {
    gone.set(
      first,
      coveredOf(state, first, { label: present.get(first) ?? null, toBlock: end, night: shown.night - 1 }),
    )
    present.delete(first)
    state.settled = Math.max(state.settled, end)
  }
  if (event === 'come') {
    const [back] = gone.keys()
    const address = back ?? addressOf(`newcomer ${shown.night}`)
    gone.delete(address)
    present.set(address, dice.next() < 0.5 ? null : 'back')
  }
  if (event === 'rename')
    for (const address of present.keys()) if (dice.next() < 0.5) present.set(address, `name ${shown.night}`)
  if (event === 'symbol') state.symbol = dice.pick(['AVAX', 'COIN', null])
  return reread
}
