import { expect } from 'vitest'
import type { Job } from '../../../src/core/model/model.ts'
import { tableNamed } from '../../../src/core/table/index.ts'
import { loadInto } from '../../../src/load/load.ts'
import type { Place } from '../../load/engines.ts'
import { readCsvTable, readManifest, readParquetTable, type TextRow } from '../read-output.ts'
import { isYoung, listed, type Placed, viewOf } from './chain-model.ts'
import { type Covered, type ExpectedRow, type ExpectedTables, expectedTables } from './expected-rows.ts'
import { BLOCKCHAIN_ID, jobOf, type Play } from './state.ts'

type Reading = { label: string | null; toBlock: number; night: number }

/** What an export has of a wallet that was read up to there. */
export function coveredOf(
  { world, scenario }: Play,
  address: string,
  { label, toBlock, night }: Reading,
): Covered {
  const placed = listed(world, night).filter(
    ({ block, content }) =>
      block.number >= scenario.job.startBlock &&
      block.number < toBlock &&
      !(scenario.job.endBlock === undefined && isYoung(block)) &&
      viewOf(content, address) !== undefined,
  )
  return { address, label, toBlock, placed }
}

/** Holds the export, and what is loaded of it, against what the world asks for. */
export async function check(state: Play, place: Place, when: string): Promise<void> {
  const job = jobOf(state)
  state.end = expectedEnd(state)
  const wallets = expectedWallets(state, state.end)
  const { coverage } = readManifest(job.output)
  expect({ when, coverage }).toEqual({ when, coverage: expectedCoverage(state, wallets) })
  const expected = expectedRows(state, wallets)
  for (const table of job.tables) {
    const columns = tableNamed(table).columns.map(({ name }) => name)
    const rows =
      job.format === 'csv' ? await readCsvTable(job.output, table) : await readParquetTable(job.output, table)
    const written = linesOf(
      (expected[table] ?? []).map((row) => asInFile(row, job)),
      columns,
    )
    expect({ when, table, rows: linesOf(rows, columns) }).toEqual({ when, table, rows: written })
  }
  await loadInto(job.output, place.to)
  for (const table of job.tables) {
    const columns = tableNamed(table).columns.map(({ name }) => name)
    const loaded = linesOf(await place.rows(table), columns).sort()
    const rows = linesOf(expected[table] ?? [], columns).sort()
    expect({ when, loaded: table, rows: loaded }).toEqual({ when, loaded: table, rows })
  }
}

/** One past the newest block that any wallet of the job shows tonight, and never before that of an earlier night. */
function expectedEnd({ world, scenario, shown, present, end }: Play): number {
  const { startBlock, endBlock } = scenario.job
  if (endBlock !== undefined) return endBlock
  const shows = ({ block, content }: Placed) =>
    !isYoung(block) && [...present.keys()].some((address) => viewOf(content, address) !== undefined)
  const newest = listed(world, shown.night).findLast(shows)
  return Math.max(end ?? startBlock, (newest?.block.number ?? 0) + 1, startBlock)
}

/** Those of the job, and those that left it. */
function expectedWallets(state: Play, toBlock: number): Covered[] {
  const { present, gone, shown } = state
  const here = [...present].map(([address, label]) =>
    coveredOf(state, address, { label, toBlock, night: shown.night }),
  )
  return [...here, ...gone.values()].sort((a, b) => (a.address < b.address ? -1 : 1))
}

function expectedCoverage({ scenario, gone }: Play, wallets: readonly Covered[]) {
  return wallets.map(({ address, toBlock, placed, label }) => ({
    ...{ address, fromBlock: scenario.job.startBlock, toBlock, transactions: placed.length, label },
    ...(gone.has(address) ? { removed: true } : {}),
  }))
}

function expectedRows({ scenario, world, symbol }: Play, wallets: readonly Covered[]): ExpectedTables {
  const { namesChain } = scenario.service
  const chain = namesChain || !scenario.job.blockchainId ? '43114' : BLOCKCHAIN_ID
  return expectedTables({ world, chain, nativeSymbol: symbol, wallets })
}

const linesOf = (rows: readonly Record<string, string | null>[], columns: readonly string[]) =>
  rows.map((row) => JSON.stringify(columns.map((column) => row[column] ?? null)))

/** Null is the empty text in a file; CSV puts a `'` before what a spreadsheet would run. */
function asInFile(row: ExpectedRow, { format, escapeFormulas, tables }: Job): TextRow {
  const types = new Map(
    tables.flatMap((table) => tableNamed(table).columns.map(({ name, type }) => [name, type] as const)),
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
