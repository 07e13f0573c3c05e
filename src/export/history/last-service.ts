import { APIS, type Api, DEFAULT_API } from '../../core/model/api.ts'
import { parseBaseUrl } from '../../core/model/base-url.ts'
import { readReports } from './past-runs.ts'

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
