import { ExportError } from '../../core/model/errors.ts'
import { readSecret } from '../../job/read-secret.ts'
import { defineOptions, type OptionValues } from '../command.ts'
import { type LogArguments, openLog } from './log.ts'

/** API key of a command, and whether it may be sent over unencrypted HTTP. */
export type Credentials = { apiKey: string | undefined; allowPlainHttp: boolean }

/** Options of commands that send an API key. */
export const keyOptions = defineOptions([
  { name: 'allow-plain-http', description: 'Send the API key unencrypted if the base URL is http' },
])

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
  throw new ExportError('USAGE', 'WALLETLAKE_ALLOW_PLAIN_HTTP is neither true nor false', {
    fix: 'Set it to true, or leave it out.',
  })
}
