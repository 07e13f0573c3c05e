import { readFile } from 'node:fs/promises'
import { ExportError } from '../core/model/errors.ts'
import { entryAt } from '../core/platform/entry.ts'
import { registerSecret } from '../core/platform/secrets.ts'
import { describeReadError, validateFile } from './yaml/read-job-text.ts'

/** The variable that contains a secret, the noun for it in messages, and what is wrong with a value. */
type Secret = {
  readonly variable: string
  readonly noun: string
  /** Returns undefined for a valid value. The value is one line and not blank. */
  readonly findMistake?: (value: string) => string | undefined
}

const SECRETS = {
  apiKey: { variable: 'WALLETLAKE_API_KEY', noun: 'key', findMistake: findKeyMistake },
  redisPassword: { variable: 'WALLETLAKE_REDIS_PASSWORD', noun: 'password' },
  /** Signs the events of webhooks. */
  webhookSecret: { variable: 'WALLETLAKE_WEBHOOK_SECRET', noun: 'secret' },
} as const satisfies Record<string, Secret>

/**
 * Reads a secret from its variable in the environment, or from the file that the variable with the suffix `_FILE` names.
 * Surrounding whitespace is removed. Returns undefined if neither is set. The variable with the secret is removed from
 * the environment, because process reports and child processes would expose it.
 *
 * @param onWarning receives a warning if other users of this machine can read the file
 * @throws USAGE if the secret is empty, has several lines, more than the secret in it or characters that an HTTP header
 *   cannot carry, or if the file cannot be read; the message does not contain the secret
 */
export async function readSecret(
  name: keyof typeof SECRETS,
  env: NodeJS.ProcessEnv,
  onWarning?: (warning: string) => void,
): Promise<string | undefined> {
  const secret: Secret = SECRETS[name]
  const { variable, noun } = secret
  const { [variable]: value, [`${variable}_FILE`]: file } = env
  delete env[variable]
  if (value !== undefined) return validateSecret(value.trim(), variable, secret)
  if (file === undefined) return undefined
  const content =
    (await validateFile(file, MAX_SECRET_BYTES)) ?? (await readFile(file, 'utf8').catch(describeReadError))
  if (typeof content !== 'string') {
    const { found, expected } = content
    throw invalidSecret(`${variable}_FILE: found ${found} (${file}), expected ${expected}`, secret)
  }
  if (await isReadableByOthers(file))
    onWarning?.(
      `the ${noun} in ${file} (${variable}_FILE) can be read by other users of this machine: change its mode with chmod 600`,
    )
  return validateSecret(content.trim(), `the file of ${variable}_FILE (${file})`, secret)
}

const MAX_SECRET_BYTES = 64 * 1024

/**
 * Whether other users can read a file. Group access is only reported for files that this user owns; for other files, the
 * group may be what gives this process access. Always false on Windows, which has no such modes.
 */
async function isReadableByOthers(file: string): Promise<boolean> {
  if (process.platform === 'win32') return false
  const stats = await entryAt(file)
  if (stats?.isFile() !== true) return false
  const isOwn = stats.uid === process.getuid?.()
  return (stats.mode & (isOwn ? 0o044 : 0o004)) !== 0
}

function validateSecret(value: string, origin: string, secret: Secret): string {
  const problem = commonProblem(value) ?? secret.findMistake?.(value)
  if (problem !== undefined)
    throw invalidSecret(`${origin}: found ${problem}, expected the ${secret.noun} alone, on one line`, secret)
  registerSecret(value)
  return value
}

function commonProblem(value: string): string | undefined {
  if (value === '') return 'nothing'
  return /[\r\n]/.test(value) ? 'several lines' : undefined
}

function invalidSecret(message: string, { variable, noun }: Secret): ExportError {
  const fix = `Set ${variable} to the ${noun}, or ${variable}_FILE to a file that holds it and nothing else.`
  return new ExportError('USAGE', message, { fix })
}

/** Returns what a value contains that no key does, without the value; undefined if it may be a key. */
function findKeyMistake(value: string): string | undefined {
  if (NAMED_SETTING.test(value) || NAMED_VARIABLE.test(value))
    return 'the name of a variable or setting before the key'
  if (/^["'`]|["'`]$/.test(value)) return 'quotes around the key'
  // The value of the header Authorization begins with a scheme and a blank.
  if (/\s/.test(value.replace(/^[\w-]+ (?=\S)/, ''))) return 'a blank in the key'
  return /^[ -~]+$/.test(value) ? undefined : 'characters that an HTTP header cannot carry'
}

/** Such as `apikey=…` and `api_key: …`. Not `id:secret`, which may be a key, nor a key that ends in the padding of base64. */
const NAMED_SETTING = /^(export |set )?\s*\w*(key|token|secret)\w*(\s*=\s*|\s*:\s+)[^=\s]/i
const NAMED_VARIABLE = /^(export |set )?[A-Z][A-Z0-9_]*=[^=\s]/
