import { parseBaseUrl } from '../../core/model/base-url.ts'
import { ExportError } from '../../core/model/errors.ts'
import { isKnownService } from '../../core/model/service-key.ts'
import { type LastService, readLastService } from '../../export/history/last-service.ts'
import type { ServiceAccess } from '../../sources/data-api/open-service.ts'
import { defineOptions, type OptionValues } from '../command.ts'
import { keyOptions, readCredentials } from './credentials.ts'
import type { LogArguments } from './log.ts'
import { readCount } from './option-parsers.ts'
import type { LocatedOutput } from './output-argument.ts'

/** How a service is reached by the commands that have no job to say it. */
export const serviceOptions = defineOptions([
  ...keyOptions,
  {
    name: 'base-url',
    value: '<url>',
    description: 'Base URL of the API, or demo; or set WALLETLAKE_BASE_URL',
  },
  { name: 'concurrency', value: '<n>', description: 'Maximum concurrent requests, 1 to 256 (default: 16)' },
])

export type ServiceArguments = LogArguments & OptionValues<typeof serviceOptions>

/** What is known of a service without options and environment. */
type ServiceDefaults = Omit<Partial<ServiceAccess>, 'apiKey'>

/** The service by options, then environment, then what is known; the key comes from the environment only. Throws USAGE. */
export async function readAccess(
  args: ServiceArguments,
  defaults: ServiceDefaults = {},
): Promise<ServiceAccess> {
  const { env } = process
  const { baseUrl, concurrency } = args
  return {
    baseUrl: baseUrl ?? env.WALLETLAKE_BASE_URL ?? defaults.baseUrl,
    ...(await readCredentials(args)),
    apiKeyHeader: env.WALLETLAKE_API_KEY_HEADER ?? defaults.apiKeyHeader,
    timeoutMs: defaults.timeoutMs,
    concurrency: readCount('concurrency', concurrency, { max: 256 }) ?? defaults.concurrency,
  }
}

type AccessOptions = { args: ServiceArguments; onNotice: (message: string) => void }

/**
 * The service that an output came from: options and environment come first, then the job where one is named, then the
 * report of the output's newest run. An export may come from someone else, so a report never decides where a key is sent,
 * unless the host is a known service, nor in which header. Throws USAGE.
 */
export async function readAccessOfOutput(
  { output, job }: LocatedOutput,
  { args, onNotice }: AccessOptions,
): Promise<ServiceAccess> {
  if (job !== undefined) return readAccess(args, { ...job.service, concurrency: job.concurrency })
  const last = await readLastService(output)
  const givenBaseUrl = args.baseUrl ?? process.env.WALLETLAKE_BASE_URL
  if (
    last === undefined ||
    (givenBaseUrl !== undefined && parseBaseUrl(givenBaseUrl) !== parseBaseUrl(last.baseUrl))
  )
    return readAccess(args)
  if (givenBaseUrl !== undefined) return readAccess(args, { apiKeyHeader: last.apiKeyHeader })
  const access = await readAccess(args, { baseUrl: last.baseUrl })
  if (access.apiKey !== undefined) requireTrustedHost(last)
  onNotice(`asking ${last.baseUrl}, the service of the last run`)
  return access
}

/** Throws USAGE where the key would go to an address that nothing but the export names. */
function requireTrustedHost({ baseUrl }: LastService): void {
  if (baseUrl === 'demo' || isKnownService(baseUrl)) return
  throw new ExportError('USAGE', `only the export names ${baseUrl}; the API key is not sent there`, {
    fix: `If this is your service, add --base-url ${baseUrl}, or name the job file instead of its output.`,
  })
}
