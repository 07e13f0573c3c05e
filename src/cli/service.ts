import type { Argv } from 'yargs'
import { readApiKey } from '../job/read-api-key.ts'
import type { ServiceAccess } from '../open-service.ts'
import { readCount } from './amounts.ts'

/** How a service is reached by the commands that have no job to say it. */
export type ServiceArguments = { baseUrl?: string | undefined; concurrency?: string | undefined }

/** The options of those commands. */
export function serviceOptions<T>(argv: Argv<T>) {
  return argv
    .option('base-url', {
      type: 'string',
      describe: 'address of the service, or `demo`; else WALLETLAKE_BASE_URL',
      requiresArg: true,
    })
    .option('concurrency', {
      type: 'string',
      describe: 'requests in flight at most, 1 to 256; 16 unless told',
      requiresArg: true,
    })
}

/** The service by options and environment; the key comes from the environment only. Throws USAGE. */
export async function readAccess(
  { baseUrl, concurrency }: ServiceArguments,
  env: NodeJS.ProcessEnv,
): Promise<ServiceAccess> {
  return {
    baseUrl: baseUrl ?? env.WALLETLAKE_BASE_URL,
    apiKey: await readApiKey(env),
    apiKeyHeader: env.WALLETLAKE_API_KEY_HEADER,
    concurrency: readCount('concurrency', concurrency, { most: 256 }),
  }
}
