import { readFile } from 'node:fs/promises'
import { ExportError } from '../core/errors.ts'
import { rememberSecret } from '../core/secrets.ts'
import { refusalOf, refuseFile } from './read-text.ts'

export type SecretName = {
  /** The variable that holds it; the one with `_FILE` at its end names a file that does. */
  variable: string
  /** What it is, in a word. */
  word: string
  /** What is wrong with a value that is one line and not blank, in words; undefined: nothing. */
  faultOf: (value: string) => string | undefined
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
  if (typeof found === 'string') return found.trim()
  throw refusal(`${name.variable}_FILE: found ${found.found} (${file}), expected ${found.expected}`, name)
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
