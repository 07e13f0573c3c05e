import { parseBaseUrl } from '../../core/model/base-url.ts'
import { readReports } from './past-runs.ts'

/** The service that a run asked, as its report has it. */
export type LastService = { readonly baseUrl: string; readonly apiKeyHeader: string }

/**
 * The service that the newest run of an output asked, by its report in `runs/`; reports that name none are passed over.
 * Undefined where there is no such report.
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
