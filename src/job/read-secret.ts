import { readFile, stat } from 'node:fs/promises'
import { ExportError } from '../core/model/errors.ts'
import { rememberSecret } from '../core/platform/secrets.ts'
import { refusalOf, refuseFile } from './yaml/read-job-text.ts'

export type SecretName = {
  /** The variable that holds it; the one with `_FILE` at its end names a file that does. */
  variable: string
  /** What it is, in a word. */
  word: string
  /** What is wrong with a value that is one line and not blank, in words; undefined: nothing. */
  faultOf: (value: string) => string | undefined
  /** Told of a file that other users of this machine can read. */
  onWarning?: ((warning: string) => void) | undefined
}

/**
 * A secret from the environment, else from the file that a second variable names, the blanks and line ends around that
 * removed; undefined where neither is set. It is taken out of the environment, which process reports and children show.
 * Throws USAGE, without the secret.
 */
export async function secretOfEnv(env: NodeJS.ProcessEnv, name: SecretName): Promise<string | undefined> {
  const { [name.variable]: value, [`${name.variable}_FILE`]: file } = env
  delete env[name.variable]
  if (value !== undefined) return check(value, name.variable, name)
  if (file === undefined) return undefined
  return check(await read(file, name), `the file of ${name.variable}_FILE (${file})`, name)
}

const LONGEST_BYTES = 64 * 1024

async function read(file: string, name: SecretName): Promise<string> {
  const found = (await refuseFile(file, LONGEST_BYTES)) ?? (await readFile(file, 'utf8').catch(refusalOf))
  if (typeof found === 'string') {
    if (await isReadableByOthers(file)) name.onWarning?.(warningOf(file, name))
    return found.trim()
  }
  throw refusal(`${name.variable}_FILE: found ${found.found} (${file}), expected ${found.expected}`, name)
}

/**
 * Whether other users can read a file: all of them, or its group where the file is our own. A group of somebody else's file is
 * how this process reads it. Windows has no such modes.
 */
async function isReadableByOthers(file: string): Promise<boolean> {
  if (process.platform === 'win32') return false
  const found = await stat(file).catch(() => undefined)
  if (found?.isFile() !== true) return false
  const isOwn = found.uid === process.getuid?.()
  return (found.mode & (isOwn ? 0o044 : 0o004)) !== 0
}

function warningOf(file: string, { variable, word }: SecretName): string {
  return `the ${word} in ${file} (${variable}_FILE) can be read by other users of this machine: chmod 600 it`
}

function check(value: string, where: string, name: SecretName): string {
  const found = commonFault(value) ?? name.faultOf(value)
  if (found !== undefined)
    throw refusal(`${where}: found ${found}, expected the ${name.word} alone, on one line`, name)
  rememberSecret(value)
  return value
}

function commonFault(value: string): string | undefined {
  if (value.trim() === '') return 'nothing'
  return /[\r\n]/.test(value) ? 'several lines' : undefined
}

function refusal(what: string, { variable, word }: SecretName): ExportError {
  const fix = `Set ${variable} to the ${word}, or ${variable}_FILE to a file that holds it and nothing else.`
  return new ExportError('USAGE', what, { fix })
}
