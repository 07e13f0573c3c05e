import type { QueueAddress } from '../../cluster/server.ts'
import { registerSecret } from '../../core/platform/secrets.ts'
import { readSecret } from '../../job/read-secret.ts'
import { type OptionValues, option } from '../command.ts'
import { usageError } from '../usage-error.ts'
import { type LogArguments, openLog } from './log.ts'

/** API key of a command, and whether it may be sent over unencrypted HTTP. */
export type Credentials = { apiKey: string | undefined; allowPlainHttp: boolean }

/** Options of commands that send an API key. */
export const keyOptions = [option('allow-plain-http', 'Send the API key unencrypted if the base URL is http')]

export type KeyArguments = LogArguments & OptionValues<typeof keyOptions>

/** Reads the API key, which only comes from the environment, and whether it may be sent unencrypted. Throws USAGE. */
export async function readCredentials(args: KeyArguments): Promise<Credentials> {
  const apiKey = await readSecret('apiKey', process.env, openLog(args).warn)
  return {
    apiKey,
    allowPlainHttp: args.allowPlainHttp ?? parseBoolean(process.env.WALLETLAKE_ALLOW_PLAIN_HTTP),
  }
}

function parseBoolean(value = ''): boolean {
  if (/^(true|1|yes)$/i.test(value)) return true
  if (/^(false|0|no)?$/i.test(value)) return false
  throw usageError(
    'WALLETLAKE_ALLOW_PLAIN_HTTP is neither true nor false',
    'Set it to true, or leave it out.',
  )
}

/** Reads the address of `--queue` and the password from the environment. A password in the URL is also kept secret. */
export async function readQueueAddress(url: string): Promise<QueueAddress> {
  const inUrl = URL.canParse(url) ? new URL(url).password : ''
  for (const secret of [inUrl, decodeOrOriginal(inUrl)]) registerSecret(secret)
  return { url, password: await readSecret('redisPassword', process.env) }
}

function decodeOrOriginal(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
