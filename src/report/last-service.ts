import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The service that a run asked, as its report has it. */
export type LastService = { readonly baseUrl: string; readonly apiKeyHeader: string }

/**
 * The service that the newest run of an output asked, by its report in `runs/`; reports that name none are passed over.
 * Undefined where there is no such report.
 */
export async function readLastService(output: string): Promise<LastService | undefined> {
  const folder = join(output, 'runs')
  const names = await readdir(folder).catch(() => [])
  const reports = names.filter((name) => /^\d{8}T\d{6}Z-[\w-]+\.json$/.test(name))
  for (const name of reports.sort().reverse()) {
    const service = serviceIn(await readFile(join(folder, name), 'utf8').catch(() => ''))
    if (service !== undefined) return service
  }
  return undefined
}

function serviceIn(text: string): LastService | undefined {
  try {
    const { service } = JSON.parse(text) as { service?: Partial<LastService> | null }
    const { baseUrl, apiKeyHeader } = service ?? {}
    return typeof baseUrl === 'string' && typeof apiKeyHeader === 'string'
      ? { baseUrl, apiKeyHeader }
      : undefined
  } catch {
    return undefined
  }
}
