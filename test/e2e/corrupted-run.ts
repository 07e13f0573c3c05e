import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { DEFAULT_TABLES, type TableName } from '../../src/core/table/index.ts'
import { faultWhere, withChangedPage } from '../helpers/faults.ts'
import { type FaultyResult, faultyRun } from '../helpers/faulty-run.ts'
import { readCsvTable, readManifest, type TextRow } from '../helpers/read-output.ts'

export type Fields = Record<string, unknown>
export type Rows = Record<TableName, TextRow[]>
type Reject = { wallet_address: string; transaction_hash: string | null; list: string | null; reason: string }

let baseline: Rows | undefined

/** The rows of a run without bad records. */
export async function baselineRows(): Promise<Rows> {
  baseline ??= await rowsOf((await faultyRun()).output)
  return baseline
}

export async function rowsOf(folder: string): Promise<Rows> {
  const rows = DEFAULT_TABLES.map(async (table) => [table, await readCsvTable(folder, table)] as const)
  return Object.fromEntries(await Promise.all(rows)) as Rows
}

/** The rows of all transactions but one. */
function without(rows: Rows, hash: string): Rows {
  const others = DEFAULT_TABLES.map((table) => [
    table,
    rows[table].filter((row) => row.transaction_hash !== hash),
  ])
  return Object.fromEntries(others) as Rows
}

function rejectsOf(folder: string): Reject[] {
  const text = readFileSync(join(folder, 'rejects.ndjson'), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Reject)
}

/**
 * Runs a job with one transaction corrupted in every view of it. Asserts that the run reports rejects, and that the rows of
 * all other transactions are unchanged.
 */
export async function corruptedRun(
  hash: string,
  corrupt: (item: Fields) => unknown,
): Promise<FaultyResult & { rejects: Reject[] }> {
  const corruptPage = withChangedPage(({ transactions, ...page }) => ({
    ...page,
    transactions: transactions.map((item) => (hashOf(item) === hash ? corrupt(item) : item)),
  }))
  const result = await faultyRun(faultWhere(() => true, corruptPage))
  expect(result.code).toBe('RECORDS_REJECTED')
  const rejects = rejectsOf(result.output)
  expect(readManifest(result.output).rejects).toBe(rejects.length)
  expect(result.jobs[0]?.stats.rejects).toBe(rejects.length)
  expect(without(await rowsOf(result.output), hash)).toEqual(without(await baselineRows(), hash))
  return { ...result, rejects }
}

function hashOf({ nativeTransaction }: { nativeTransaction: Fields }): string {
  return String(nativeTransaction.txHash).toLowerCase()
}
