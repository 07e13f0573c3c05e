import { readFile, stat } from 'node:fs/promises'
import { ExportError } from '../core/model/errors.ts'
import { registerSecret } from '../core/platform/secrets.ts'
import { describeReadError, validateFile } from './yaml/read-job-text.ts'

export type SecretSource = {
  /** Variable that contains the secret. With the suffix `_FILE`, the variable that names a file with it. */
  variable: string
  /** Noun for the secret in messages, such as `password`. */
  noun: string
  /** Returns what is wrong with a value, or undefined if it is valid. The value is one line and not blank. */
  validate: (value: string) => string | undefined
  /** Receives a warning if other users of this machine can read the file. */
  onWarning?: ((warning: string) => void) | undefined
}

/**
 * Reads a secret from the environment, or from the file that the variable with the suffix `_FILE` names. Surrounding
 * whitespace is removed. Returns undefined if neither is set. The variable with the secret is removed from the
 * environment, because process reports and child processes would expose it.
 *
 * @throws USAGE if the value is invalid or the file cannot be read; the message does not contain the secret
 */
export async function readSecret(env: NodeJS.ProcessEnv, secret: SecretSource): Promise<string | undefined> {
  const { [secret.variable]: value, [`${secret.variable}_FILE`]: file } = env
  delete env[secret.variable]
  if (value !== undefined) return validateSecret(value.trim(), secret.variable, secret)
  if (file === undefined) return undefined
  return validateSecret(
    await readSecretFile(file, secret),
    `the file of ${secret.variable}_FILE (${file})`,
    secret,
  )
}

const MAX_SECRET_BYTES = 64 * 1024

async function readSecretFile(file: string, secret: SecretSource): Promise<string> {
  const content =
    (await validateFile(file, MAX_SECRET_BYTES)) ?? (await readFile(file, 'utf8').catch(describeReadError))
  if (typeof content === 'string') {
    if (await isReadableByOthers(file)) secret.onWarning?.(permissionWarning(file, secret))
    return content.trim()
  }
  throw invalidSecret(
    `${secret.variable}_FILE: found ${content.found} (${file}), expected ${content.expected}`,
    secret,
  )
}

/**
 * Whether other users can read a file. Group access is only reported for files that this user owns; for other files, the
 * group may be what gives this process access. Always false on Windows, which has no such modes.
 */
async function isReadableByOthers(file: string): Promise<boolean> {
  if (process.platform === 'win32') return false
  const stats = await stat(file).catch(() => undefined)
  if (stats?.isFile() !== true) return false
  const isOwn = stats.uid === process.getuid?.()
  return (stats.mode & (isOwn ? 0o044 : 0o004)) !== 0
}

function permissionWarning(file: string, { variable, noun }: SecretSource): string {
  return `the ${noun} in ${file} (${variable}_FILE) can be read by other users of this machine: change its mode with chmod 600`
}

function validateSecret(value: string, origin: string, secret: SecretSource): string {
  const problem = commonProblem(value) ?? secret.validate(value)
  if (problem !== undefined)
    throw invalidSecret(`${origin}: found ${problem}, expected the ${secret.noun} alone, on one line`, secret)
  registerSecret(value)
  return value
}

function commonProblem(value: string): string | undefined {
  if (value === '') return 'nothing'
  return /[\r\n]/.test(value) ? 'several lines' : undefined
}

function invalidSecret(message: string, { variable, noun }: SecretSource): ExportError {
  const fix = `Set ${variable} to the ${noun}, or ${variable}_FILE to a file that holds it and nothing else.`
  return new ExportError('USAGE', message, { fix })
}
