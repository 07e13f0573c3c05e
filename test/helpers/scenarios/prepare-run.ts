import { rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  ageBlocks,
  delayIndexing,
  growChain,
  listedTransactions,
  moveTransactionPast,
  reorg,
  viewOf,
} from './chain-model.ts'
import type { PlacedTransaction } from './chain-types.ts'
import { coverageOf } from './check-export.ts'
import { addressOf, OTHER_PARTIES } from './random-transaction.ts'
import type { IncrementalRun, Scenario } from './scenario.ts'
import type { ScenarioState } from './state.ts'
import { reindexTransactions } from './transaction-versions.ts'

/** Blocks before the end of an export that every run fetches again. */
const LOOKBACK_BLOCKS = 32

/** Changes the chain and the job before a run. Resolves with the run's lookback in blocks; undefined: the default. */
export function prepareRun(state: ScenarioState, run: IncrementalRun): number | undefined {
  const { chainModel, listed, end, scenario } = state
  ageBlocks(chainModel)
  const lookbackStart = (end ?? 0) - LOOKBACK_BLOCKS + 1
  const firstMutable = Math.max(state.finalBefore, lookbackStart, chainModel.blocks.length - run.depth, 1)
  state.refetchFrom = end === undefined ? 0 : firstMutable
  const openEnded =
    end === undefined || scenario.job.endBlock !== undefined ? undefined : { ...run, end, firstMutable }
  const hasLate = hasLateTransactions(state)
  let lookbackBlocks = openEnded && reorgChain(state, openEnded)
  growChain(chainModel, { blocks: run.grows, runIndex: listed.runIndex })
  if (run.event === 'late indexing' && scenario.job.endBlock === undefined) {
    const from = Math.max(state.finalBefore, end ?? 0, chainModel.blocks.length - 9)
    delayIndexing(chainModel, from, listed.runIndex + 1)
  }
  if (openEnded?.event.startsWith('lost pages, reorg')) lookbackBlocks = losePagesInReorg(state, openEnded)
  if (end !== undefined && !hasLate && !state.areVersionsMixed) {
    if (run.event === 'lost pages') losePages(state, end)
    if (run.event === 'remove wallet') removeWallet(state, end)
  }
  if (openEnded?.event.startsWith('reindex')) reindexBlocks(state, openEnded)
  changeJob(state, run)
  return lookbackBlocks
}

/** A run after the first of a job without an end block. */
type OpenEndedRun = IncrementalRun & {
  /** End of the export, exclusive. */
  end: number
  /** The lowest block that may change before a run fetches it again. */
  firstMutable: number
}

/**
 * Whether the service starts to list late transactions with this run. Whether the export would get those of a removed wallet
 * depends on which blocks are rewritten for other wallets, so no wallet is removed and no pages are lost then.
 */
const hasLateTransactions = ({ chainModel, listed }: ScenarioState) =>
  chainModel.blocks.some(({ transactions }) => transactions.some(({ since }) => since === listed.runIndex))

function reorgChain(
  state: ScenarioState,
  { event, depth, end, firstMutable }: OpenEndedRun,
): number | undefined {
  const { chainModel, listed } = state
  if (event === 'reorg') reorg(chainModel, firstMutable, listed.runIndex)
  if (event !== 'lookback') return undefined
  const lookbackBlocks = 40 + depth
  if (!state.arePagesLost) state.refetchFrom = end - lookbackBlocks
  reorg(chainModel, Math.max(state.finalBefore, end - lookbackBlocks + 1, 1), listed.runIndex)
  return lookbackBlocks
}

/**
 * Deletes the pages while a reorg moves an exported transaction past the end of the export, so that the run fetches all blocks
 * again. Resolves with the run's lookback in blocks; undefined: the default.
 */
function losePagesInReorg(state: ScenarioState, { event, depth, end }: OpenEndedRun): number | undefined {
  const { chainModel, listed, scenario } = state
  if (state.areVersionsMixed || !showsAllTransactions(scenario)) return undefined
  const moved = findExported(state, Math.max(state.finalBefore, end - depth, 1))
  if (moved === undefined) return undefined
  rmSync(join(state.output, '.walletlake'), { recursive: true, force: true })
  reorg(chainModel, moved.block.number, listed.runIndex)
  moveTransactionPast(chainModel, moved, end)
  state.arePagesLost = false
  state.refetchFrom = 0
  return event === 'lost pages, reorg, lookback' ? depth : undefined
}

function losePages(state: ScenarioState, end: number): void {
  rmSync(join(state.output, '.walletlake'), { recursive: true, force: true })
  state.arePagesLost = true
  state.finalBefore = end
}

function removeWallet(state: ScenarioState, end: number): void {
  const { current, removed, listed } = state
  const [first] = current.keys()
  if (first === undefined || current.size < 2) return
  const label = current.get(first) ?? null
  removed.set(first, coverageOf(state, first, { label, toBlock: end, runIndex: listed.runIndex - 1 }))
  current.delete(first)
  state.finalBefore = Math.max(state.finalBefore, end)
}

function changeJob(state: ScenarioState, { event }: IncrementalRun): void {
  const { current, removed, listed, random } = state
  if (event === 'reindex, add wallet') {
    const added = OTHER_PARTIES.find((address) => !current.has(address) && !removed.has(address))
    if (added !== undefined) current.set(added, null)
  }
  if (event === 'add wallet') {
    const [back] = removed.keys()
    const address = back ?? addressOf(`newcomer ${listed.runIndex}`)
    removed.delete(address)
    current.set(address, random.next() < 0.5 ? null : 'back')
  }
  if (event === 'rename wallets')
    for (const address of current.keys())
      if (random.next() < 0.5) current.set(address, `name ${listed.runIndex}`)
  if (event === 'symbol') state.symbol = random.pick(['AVAX', 'COIN', null])
}

/** Re-indexes transactions that the run fetches again and, if it is known which wallets fetch them again, older ones. */
function reindexBlocks(state: ScenarioState, { end, firstMutable }: OpenEndedRun): void {
  const { chainModel, current, removed, listed, fetched } = state
  const includesOlder = !state.arePagesLost && removed.size === 0
  state.areVersionsMixed ||= includesOlder
  reindexTransactions(chainModel, fetched, {
    wallets: [...current.keys()],
    runIndex: listed.runIndex - 1,
    isAffected: (block) =>
      block < end && (block >= firstMutable || (includesOlder && block < end - LOOKBACK_BLOCKS)),
  })
}

/** Whether every exported transaction has a row in one of the job's tables. */
const showsAllTransactions = ({ job: { tables } }: Scenario) =>
  tables.includes('transactions') || tables.includes('wallet_transactions')

/** An exported transaction in a block from `from` on. */
function findExported(
  { chainModel, listed, current, end, scenario }: ScenarioState,
  from: number,
): PlacedTransaction | undefined {
  const lowest = Math.max(from, scenario.job.startBlock)
  return listedTransactions(chainModel, listed.runIndex - 1).find(
    ({ block, content }) =>
      block.number >= lowest &&
      block.number < (end ?? 0) &&
      [...current.keys()].some((address) => viewOf(content, address) !== undefined),
  )
}
