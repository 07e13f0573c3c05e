import { parseBaseUrl } from '../../core/model/base-url.ts'
import { readReports } from './past-runs.ts'

/** The service that a run used, according to its report. */
export type LastService = { readonly baseUrl: string; readonly apiKeyHeader: string }

/**
 * Returns the service of the newest run of an output, according to its report in `runs/`. Skips reports
 * without a service. Returns undefined if no report has one.
 */
export async function readLastService(output: string): Promise<LastService | undefined> {
  for await (const report of readReports(output)) {
    const service = serviceOfReport(report)
    if (service !== undefined) return service
  }
  return undefined
}

function serviceOfReport(report: { service?: Partial<LastService> | null }): LastService | undefined {
  const { baseUrl, apiKeyHeader } = report.service ?? {}
  if (typeof baseUrl !== 'string' || typeof apiKeyHeader !== 'string') return undefined
  return baseUrl === 'demo' || parseBaseUrl(baseUrl) !== undefined ? { baseUrl, apiKeyHeader } : undefined
}
