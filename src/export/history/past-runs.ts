import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RUNS_FOLDER } from '../../core/model/manifest.ts'
import { parseJson } from '../../core/platform/json-text.ts'

/**
 * The fields of a run report that this program reads. Optional fields are absent in reports of older
 * versions.
 */
export type PastRun = {
  readonly run: string
  readonly state: string
  readonly error: { readonly code: string } | null
  /** ISO time. */
  readonly startedAt: string
  readonly seconds: number
  readonly chain: string
  readonly wallets: number
  readonly requests: number
  readonly transactions: number
  readonly computeUnits?: number
  /** Blocks that the run wrote, half-open. */
  readonly fromBlock?: number | null
  readonly toBlock?: number | null
  /** ISO times. */
  readonly firstTransactionAt?: string | null
  readonly lastTransactionAt?: string | null
}

/** Returns the runs of an output, newest first. Unreadable reports are skipped. */
export async function readPastRuns(output: string): Promise<PastRun[]> {
  const runs: PastRun[] = []
  for await (const report of readReports(output)) if (isPastRun(report)) runs.push(report)
  return runs.sort((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt))
}

/** Yields the reports in `runs/` of an output, newest first. Files that are not JSON objects are skipped. */
export async function* readReports(output: string): AsyncGenerator<object, void, void> {
  const folder = join(output, RUNS_FOLDER)
  const names = await readdir(folder).catch(() => [])
  for (const name of names
    .filter((name) => REPORT_FILE_NAME.test(name))
    .sort()
    .reverse()) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => '')
    const report = parseJson(text)
    if (typeof report === 'object' && report !== null) yield report
  }
}

const REPORT_FILE_NAME = /^\d{8}T\d{6}Z-[\w-]+\.json$/

function isPastRun(report: object): report is PastRun {
  const { run, state, startedAt, chain, ...counts } = report as PastRun
  const { seconds, wallets, requests, transactions } = counts
  const isDate = typeof startedAt === 'string' && !Number.isNaN(Date.parse(startedAt))
  return (
    isDate &&
    [run, state, chain].every(isText) &&
    [seconds, wallets, requests, transactions].every(Number.isFinite)
  )
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}
