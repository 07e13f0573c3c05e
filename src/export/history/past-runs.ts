import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { APIS, type Api, DEFAULT_API } from '../../core/model/api.ts'
import { parseBaseUrl } from '../../core/model/base-url.ts'
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

/** The service that a run used, according to its report. */
export type LastService = { readonly baseUrl: string; readonly apiKeyHeader: string; readonly api: Api }

/**
 * Returns the service of the newest run of an output, according to its report in `runs/`. Skips reports
 * without a service, and those of runs that failed before they had read anything, unless there is no other. Returns
 * undefined if no report has a service.
 */
export async function readLastService(output: string): Promise<LastService | undefined> {
  let unread: LastService | undefined
  for await (const report of readReports(output)) {
    const service = serviceOfReport(report)
    if (service !== undefined && hasRead(report)) return service
    unread ??= service
  }
  return unread
}

const hasRead = ({ pages, error }: { pages?: unknown; error?: unknown }) =>
  pages !== 0 || error === null || error === undefined

function serviceOfReport(report: { service?: Partial<LastService> | null }): LastService | undefined {
  const { baseUrl, apiKeyHeader } = report.service ?? {}
  // Only reports of another API name it; an unknown one is of a later version.
  const api = APIS.find((known) => known === (report.service?.api ?? DEFAULT_API))
  if (typeof baseUrl !== 'string' || typeof apiKeyHeader !== 'string' || api === undefined) return undefined
  return baseUrl === 'demo' || parseBaseUrl(baseUrl) !== undefined
    ? { baseUrl, apiKeyHeader, api }
    : undefined
}
