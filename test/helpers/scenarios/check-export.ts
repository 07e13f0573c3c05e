import { expect } from 'vitest'
import type { Job } from '../../../src/core/model/model.ts'
import { tableByName } from '../../../src/core/table/index.ts'
import { loadInto } from '../../../src/load/load.ts'
import type { Place } from '../../load/engines.ts'
import { readCsvTable, readManifest, readParquetTable, type TextRow } from '../read-output.ts'
import { isFuture, listedTransactions, viewOf } from './chain-model.ts'
import type { PlacedTransaction } from './chain-types.ts'
import type { ExpectedRow } from './expected-cells.ts'
import { type CoveredWallet, type ExpectedTables, expectedTables } from './expected-rows.ts'
import { expectVerified, publishedFolder } from './published-export.ts'
import { BLOCKCHAIN_ID, jobOf, type ScenarioState } from './state.ts'
import { markContradictionsRefetched, markRefetched } from './transaction-versions.ts'

type WalletRead = { label: string | null; toBlock: number; runIndex: number }

/** The part of the export that a wallet contributes when it has been fetched up to `toBlock`. */
export function coverageOf(
  { chainModel, scenario }: ScenarioState,
  address: string,
  { label, toBlock, runIndex }: WalletRead,
): CoveredWallet {
  const placed = listedTransactions(chainModel, runIndex).filter(
    ({ block, content }) =>
      block.number >= scenario.job.startBlock &&
      block.number < toBlock &&
      !(scenario.job.endBlock === undefined && isFuture(block)) &&
      viewOf(content, address) !== undefined,
  )
  return { address, label, toBlock, placed }
}

/** Compares the export, and a database that loads it, with the rows that follow from the chain. */
export async function checkExport(state: ScenarioState, target: Place, when: string): Promise<void> {
  const job = jobOf(state)
  state.end = expectedEnd(state)
  const wallets = expectedWallets(state, state.end)
  markRunFetched(state, wallets)
  await expectVerified(state, when)
  const output = await publishedFolder(state)
  // Rows may go beyond what a wallet's coverage claims.
  const coverage = readManifest(output).coverage.map((wallet) =>
    wallet.removed === true || wallet.toBlock > (state.end ?? 0)
      ? wallet
      : { ...wallet, toBlock: state.end ?? 0 },
  )
  expect({ when, coverage }).toEqual({ when, coverage: expectedCoverage(state, wallets) })
  const expected = expectedRows(state, wallets)
  for (const table of job.tables) {
    const columns = tableByName(table).columns.map(({ name }) => name)
    const rows =
      job.format === 'csv' ? await readCsvTable(output, table) : await readParquetTable(output, table)
    const written = linesOf(
      (expected[table] ?? []).map((row) => asInFile(row, job)),
      columns,
    )
    expect({ when, table, rows: linesOf(rows, columns) }).toEqual({ when, table, rows: written })
  }
  await loadInto(output, target.to)
  for (const table of job.tables) {
    const columns = tableByName(table).columns.map(({ name }) => name)
    const loaded = linesOf(await target.rows(table), columns).sort()
    const rows = linesOf(expected[table] ?? [], columns).sort()
    expect({ when, loaded: table, rows: loaded }).toEqual({ when, loaded: table, rows })
  }
}

/** The block after the newest one with a transaction of a current wallet, but never below the end of an earlier run. */
function expectedEnd({ chainModel, scenario, listed, current, end }: ScenarioState): number {
  const { startBlock, endBlock } = scenario.job
  if (endBlock !== undefined) return endBlock
  const shows = ({ block, content }: PlacedTransaction) =>
    !isFuture(block) && [...current.keys()].some((address) => viewOf(content, address) !== undefined)
  const newest = listedTransactions(chainModel, listed.runIndex).findLast(shows)
  return Math.max(end ?? startBlock, (newest?.block.number ?? 0) + 1, startBlock)
}

/** Records which versions of transactions the run has fetched. */
function markRunFetched(state: ScenarioState, wallets: readonly CoveredWallet[]): void {
  const { chainModel, listed, current, fetched, refetchFrom } = state
  const isRefetched = (block: number) => block >= refetchFrom
  markRefetched(fetched, chainModel, { wallets: [...current.keys()], isRefetched })
  const addresses = wallets.map(({ address }) => address)
  markContradictionsRefetched(fetched, listedTransactions(chainModel, listed.runIndex), addresses)
}

/** The job's wallets and the removed ones, by address. */
function expectedWallets(state: ScenarioState, toBlock: number): CoveredWallet[] {
  const { current, removed, listed } = state
  const here = [...current].map(([address, label]) =>
    coverageOf(state, address, { label, toBlock, runIndex: listed.runIndex }),
  )
  return [...here, ...removed.values()].sort((a, b) => (a.address < b.address ? -1 : 1))
}

function expectedCoverage({ scenario, removed }: ScenarioState, wallets: readonly CoveredWallet[]) {
  return wallets.map(({ address, toBlock, placed, label }) => ({
    address,
    fromBlock: scenario.job.startBlock,
    toBlock,
    transactions: placed.length,
    label,
    ...(removed.has(address) ? { removed: true } : {}),
  }))
}

function expectedRows(
  { scenario, chainModel, symbol, fetched }: ScenarioState,
  wallets: readonly CoveredWallet[],
): ExpectedTables {
  const { namesChain } = scenario.service
  const chain = namesChain || !scenario.job.blockchainId ? '43114' : BLOCKCHAIN_ID
  const feeRules = { fees: scenario.job.fees, listsFeeCap: scenario.service.listsFeeCap }
  return expectedTables({ chainModel, chain, nativeSymbol: symbol, feeRules, wallets, fetched })
}

const linesOf = (rows: readonly Record<string, string | null>[], columns: readonly string[]) =>
  rows.map((row) => JSON.stringify(columns.map((column) => row[column] ?? null)))

/** In a file, null is an empty text. CSV puts a `'` before text that a spreadsheet would evaluate. */
function asInFile(row: ExpectedRow, { format, escapeFormulas, tables }: Job): TextRow {
  const types = new Map(
    tables.flatMap((table) => tableByName(table).columns.map(({ name, type }) => [name, type] as const)),
  )
  const isGuarded = (name: string, cell: string) =>
    format === 'csv' && escapeFormulas && types.get(name) === 'text' && /^'*[=+\-@\t\r]/.test(cell)
  return Object.fromEntries(
    Object.entries(row).map(([name, cell]) => [
      name,
      cell === null ? '' : isGuarded(name, cell) ? `'${cell}` : cell,
    ]),
  )
}
