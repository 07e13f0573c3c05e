import type { Command } from 'commander'
import { readBaseUrl } from '../../core/model/base-url.ts'
import { ExportError } from '../../core/model/errors.ts'
import { isKnownService } from '../../core/model/service-key.ts'
import { type LastService, readLastService } from '../../export/history/last-service.ts'
import type { ServiceAccess } from '../../sources/data-api/open-service.ts'
import { type KeyArguments, keyOption, readCredentials } from './credentials.ts'
import { readCount } from './option-parsers.ts'
import type { NamedOutput } from './output-argument.ts'

/** How a service is reached by the commands that have no job to say it. */
export type ServiceArguments = KeyArguments & {
  baseUrl?: string | undefined
  concurrency?: string | undefined
}

/** The options of those commands. */
export function serviceOptions(command: Command): Command {
  return keyOption(command)
    .option('--base-url <url>', 'Base URL of the API, or demo; or set WALLETLAKE_BASE_URL')
    .option('--concurrency <n>', 'Maximum concurrent requests, 1 to 256 (default: 16)')
}

/** What is known of a service without options and environment. */
type KnownService = Omit<Partial<ServiceAccess>, 'apiKey'>

/** The service by options, then environment, then what is known; the key comes from the environment only. Throws USAGE. */
export async function readAccess(args: ServiceArguments, known: KnownService = {}): Promise<ServiceAccess> {
  const { env } = process
  const { baseUrl, concurrency } = args
  return {
    baseUrl: baseUrl ?? env.WALLETLAKE_BASE_URL ?? known.baseUrl,
    ...(await readCredentials(args)),
    apiKeyHeader: env.WALLETLAKE_API_KEY_HEADER ?? known.apiKeyHeader,
    timeoutMs: known.timeoutMs,
    concurrency: readCount('concurrency', concurrency, { most: 256 }) ?? known.concurrency,
  }
}

type Telling = { args: ServiceArguments; onNotice: (message: string) => void }

/**
 * The service that an output came from: options and environment come first, then the job where one is named, then the
 * report of the output's newest run. An export may come from someone else, so a report never decides where a key is sent,
 * unless the host is a known service, nor in which header. Throws USAGE.
 */
export async function accessOfOutput(
  { output, job }: NamedOutput,
  { args, onNotice }: Telling,
): Promise<ServiceAccess> {
  if (job !== undefined) return readAccess(args, { ...job.service, concurrency: job.concurrency })
  const last = await readLastService(output)
  const named = args.baseUrl ?? process.env.WALLETLAKE_BASE_URL
  if (last === undefined || (named !== undefined && readBaseUrl(named) !== readBaseUrl(last.baseUrl)))
    return readAccess(args)
  if (named !== undefined) return readAccess(args, { apiKeyHeader: last.apiKeyHeader })
  const access = await readAccess(args, { baseUrl: last.baseUrl })
  if (access.apiKey !== undefined) requireTrusted(last)
  onNotice(`asking ${last.baseUrl}, the service of the last run`)
  return access
}

/** Throws USAGE where the key would go to an address that nothing but the export names. */
function requireTrusted({ baseUrl }: LastService): void {
  if (baseUrl === 'demo' || isKnownService(baseUrl)) return
  throw new ExportError('USAGE', `only the export names ${baseUrl}; the API key is not sent there`, {
    fix: `If this is your service, add --base-url ${baseUrl}, or name the job file instead of its output.`,
  })
}
