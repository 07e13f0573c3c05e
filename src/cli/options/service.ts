import { APIS, type Api, DEFAULT_API } from '../../core/model/api.ts'
import { parseBaseUrl } from '../../core/model/base-url.ts'
import type { MeteredOperation } from '../../core/model/compute-units.ts'
import { knownServiceOf } from '../../core/model/known-services.ts'
import { isKnownService } from '../../core/model/service-key.ts'
import { type LastService, readLastService } from '../../export/history/past-runs.ts'
import { unitsUsedToday } from '../../export/open-request-context.ts'
import type { ServiceAccess } from '../../sources/service-access.ts'
import type { Log } from '../../terminal/log.ts'
import { type OptionValues, option } from '../command.ts'
import type { Interruption } from '../signals.ts'
import { usageError } from '../usage-error.ts'
import { keyOptions, readCredentials } from './credentials.ts'
import { type CommandTools, type LogArguments, withSignals } from './log.ts'
import type { LocatedOutput } from './output-argument.ts'
import { count } from './parsers.ts'

/** Options that configure the data service for commands without a job. */
export const serviceOptions = [
  option('base-url <url>', 'Base URL of the service, or demo; or set WALLETLAKE_BASE_URL'),
  option('concurrency <n>', 'Maximum concurrent requests, 1 to 256 (default: 16)', {
    parse: parseConcurrency,
  }),
  ...keyOptions,
]

export function parseConcurrency(text: string): number {
  return count({ max: 256 })(text, 'concurrency')
}

export type ServiceArguments = LogArguments &
  OptionValues<typeof serviceOptions> & {
    /** The API of the service, if the command has an option for it. */
    api?: string
  }

/** Settings of a service that apply if neither an option nor the environment sets them. */
type ServiceDefaults = Omit<Partial<ServiceAccess>, 'apiKey'>

/**
 * Reads how to access the service: from options, then the environment, then `defaults`. The key only comes from the
 * environment. Throws USAGE.
 */
export async function readAccess(
  args: ServiceArguments,
  defaults: ServiceDefaults = {},
): Promise<ServiceAccess> {
  const { env } = process
  const { baseUrl, concurrency } = args
  return {
    baseUrl: baseUrl ?? env.WALLETLAKE_BASE_URL ?? defaults.baseUrl,
    ...(await readCredentials(args)),
    api: apiOf(args, defaults),
    apiKeyHeader: env.WALLETLAKE_API_KEY_HEADER ?? defaults.apiKeyHeader,
    timeoutMs: defaults.timeoutMs,
    ...quotaOf(defaults),
    concurrency: concurrency ?? defaults.concurrency,
  }
}

/** The API of a service that the user names: the given one, or that of its host; otherwise that of the defaults. */
function apiOf({ baseUrl, api }: ServiceArguments, defaults: ServiceDefaults): Api | undefined {
  const given = baseUrl ?? process.env.WALLETLAKE_BASE_URL
  const isDefault = given === undefined || parseBaseUrl(given) === parseBaseUrl(defaults.baseUrl ?? '')
  if (api !== undefined) return parseApi('--api', api)
  if (isDefault) return defaults.api
  return parseApi('WALLETLAKE_API', process.env.WALLETLAKE_API) ?? knownServiceOf(given)?.api
}

function parseApi(setting: string, name: string | undefined): Api | undefined {
  const api = APIS.find((api) => api === name)
  if (name === undefined || api !== undefined) return api
  throw usageError(`${setting}: found ${name}, expected one of ${APIS.join(', ')}`, `Correct ${setting}.`)
}

/** The known quota of the key, what the runs of an output have used of it today, and the operation that requests it. */
function quotaOf(settings: ServiceDefaults) {
  const { tier, computeUnitsPerMinute, computeUnitsPerDay, computeUnits, unitsUsedToday, operation } =
    settings
  return { tier, computeUnitsPerMinute, computeUnitsPerDay, computeUnits, unitsUsedToday, operation }
}

type AccessOptions = {
  args: ServiceArguments
  /** The operation that most requests belong to. @default listing */
  operation?: MeteredOperation
  /** Whether the command sends no requests to services with another API than `data-api`. @default false */
  isDataApiOnly?: boolean
  interruption?: Interruption
  /** Log level of the notice that names the service. @default info */
  noticeLevel?: 'info' | 'debug'
}

type ServiceTools = { service: ServiceAccess & CommandTools['requests']; log: Log }

/** Runs `work` with the service that an output was read from, a log, and a signal that SIGINT and SIGTERM trigger. */
export function withService<T>(
  located: LocatedOutput,
  options: AccessOptions,
  work: (tools: ServiceTools) => Promise<T>,
): Promise<T> {
  const { args, interruption, noticeLevel = 'info' } = options
  return withSignals({ ...args, interruption }, async ({ log, requests }) => {
    const access = await readAccessOfOutput(located, options, log[noticeLevel])
    return work({ service: { ...access, ...requests }, log })
  })
}

/**
 * Reads how to access the service that an output was read from: from options and environment, then from the job if one
 * is given, then from the report of the newest run. An export may come from someone else. Therefore its report decides
 * where a key is sent only if the host is a known service, and in which header only if the user gave the same URL. Throws
 * USAGE.
 */
export async function readAccessOfOutput(
  { output, job }: LocatedOutput,
  { args, operation, isDataApiOnly = false }: AccessOptions,
  onNotice: (message: string) => void,
): Promise<ServiceAccess> {
  if (job !== undefined) {
    const used = await unitsUsedToday([job.output])
    return readAccess(args, { ...job.service, concurrency: job.concurrency, unitsUsedToday: used, operation })
  }
  const last = await readLastService(output)
  const givenBaseUrl = args.baseUrl ?? process.env.WALLETLAKE_BASE_URL
  if (
    last === undefined ||
    (givenBaseUrl !== undefined && parseBaseUrl(givenBaseUrl) !== parseBaseUrl(last.baseUrl))
  )
    return readAccess(args)
  if (givenBaseUrl !== undefined) return readAccess(args, last)
  const access = await readAccess(args, { baseUrl: last.baseUrl, api: last.api })
  const isUsed = !isDataApiOnly || access.api === DEFAULT_API
  if (access.apiKey !== undefined && isUsed) requireTrustedHost(last)
  onNotice(`using ${last.baseUrl}, the service of the last run`)
  return access
}

/** Throws USAGE if the key would be sent to a host that is neither known nor given by the user. */
function requireTrustedHost({ baseUrl }: LastService): void {
  if (baseUrl === 'demo' || isKnownService(baseUrl)) return
  throw usageError(
    `only the export names ${baseUrl}; the API key is not sent there`,
    `If this is your service, add --base-url ${baseUrl}, or name the job file instead of its output.`,
  )
}
