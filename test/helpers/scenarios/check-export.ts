import { expect } from 'vitest'
import type { Job } from '../../../src/core/model/model.ts'
import { tableByName } from '../../../src/core/table/index.ts'
import { loadInto } from '../../../src/load/load.ts'
import type { Place } from '../../load/engines.ts'
import { readCsvTable, readManifest, readParquetTable, type TextRow } from '../read-output.ts'
import { isFuture, listedTransactions, type PlacedTransaction, viewOf } from './chain-model.ts'
import { type CoveredWallet, type ExpectedRow, type ExpectedTables, expectedTables } from './expected-rows.ts'
import { BLOCKCHAIN_ID, jobOf, type ScenarioState } from './state.ts'

type WalletRead = { label: string | null; toBlock: number; runIndex: number }

/** The expected coverage of a wallet that was read up to `toBlock` in this run. */
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

/** Asserts that coverage and rows of the export, and the rows of a database that loads it, equal those of the model. */
export async function checkExport(state: ScenarioState, target: Place, when: string): Promise<void> {
  const job = jobOf(state)
  state.end = expectedEnd(state)
  const wallets = expectedWallets(state, state.end)
  const { coverage } = readManifest(job.output)
  expect({ when, coverage }).toEqual({ when, coverage: expectedCoverage(state, wallets) })
  const expected = expectedRows(state, wallets)
  for (const table of job.tables) {
    const columns = tableByName(table).columns.map(({ name }) => name)
    const rows =
      job.format === 'csv' ? await readCsvTable(job.output, table) : await readParquetTable(job.output, table)
    const written = linesOf(
      (expected[table] ?? []).map((row) => asInFile(row, job)),
      columns,
    )
    expect({ when, table, rows: linesOf(rows, columns) }).toEqual({ when, table, rows: written })
  }
  await loadInto(job.output, target.to)
  for (const table of job.tables) {
    const columns = tableByName(table).columns.map(({ name }) => name)
    const loaded = linesOf(await target.rows(table), columns).sort()
    const rows = linesOf(expected[table] ?? [], columns).sort()
    expect({ when, loaded: table, rows: loaded }).toEqual({ when, loaded: table, rows })
  }
}

/** One past the newest block listed for any current wallet, but not less than the end of the previous run. */
function expectedEnd({ chainModel, scenario, listed, current, end }: ScenarioState): number {
  const { startBlock, endBlock } = scenario.job
  if (endBlock !== undefined) return endBlock
  const isListed = ({ block, content }: PlacedTransaction) =>
    !isFuture(block) && [...current.keys()].some((address) => viewOf(content, address) !== undefined)
  const newest = listedTransactions(chainModel, listed.runIndex).findLast(isListed)
  return Math.max(end ?? startBlock, (newest?.block.number ?? 0) + 1, startBlock)
}

/** The wallets of the job and the removed ones. */
function expectedWallets(state: ScenarioState, toBlock: number): CoveredWallet[] {
  const { current, removed, listed } = state
  const inJob = [...current].map(([address, label]) =>
    coverageOf(state, address, { label, toBlock, runIndex: listed.runIndex }),
  )
  return [...inJob, ...removed.values()].sort((a, b) => (a.address < b.address ? -1 : 1))
}

function expectedCoverage({ scenario, removed }: ScenarioState, wallets: readonly CoveredWallet[]) {
  return wallets.map(({ address, toBlock, placed, label }) => ({
    ...{ address, fromBlock: scenario.job.startBlock, toBlock, transactions: placed.length, label },
    ...(removed.has(address) ? { removed: true } : {}),
  }))
}

function expectedRows(
  { scenario, chainModel, symbol }: ScenarioState,
  wallets: readonly CoveredWallet[],
): ExpectedTables {
  const { namesChain } = scenario.service
  const chain = namesChain || !scenario.job.blockchainId ? '43114' : BLOCKCHAIN_ID
  return expectedTables({ chainModel, chain, nativeSymbol: symbol, wallets })
}

const linesOf = (rows: readonly Record<string, string | null>[], columns: readonly string[]) =>
  rows.map((row) => JSON.stringify(columns.map((column) => row[column] ?? null)))

/**
 * A row as in a file: null becomes an empty string, and in CSV a `'` precedes text that a spreadsheet would evaluate.
 */
function asInFile(row: ExpectedRow, { format, escapeFormulas, tables }: Job): TextRow {
  const types = new Map(
    tables.flatMap((table) => tableByName(table).columns.map(({ name, type }) => [name, type] as const)),
  )
  const isEscaped = (name: string, cell: string) =>
    format === 'csv' && escapeFormulas && types.get(name) === 'text' && /^'*[=+\-@\t\r]/.test(cell)
  return Object.fromEntries(
    Object.entries(row).map(([name, cell]) => [
      name,
      cell === null ? '' : isEscaped(name, cell) ? `'${cell}` : cell,
    ]),
  )
}
