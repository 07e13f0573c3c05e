import { readFile } from 'node:fs/promises'
import { ExportError } from '../errors.ts'
import { refusalOf, refuseFile } from './read-text.ts'

/**
 * The API key from WALLETLAKE_API_KEY, else the content of the file that WALLETLAKE_API_KEY_FILE names, the blanks
 * and line ends around it removed; undefined where neither is set. The key is taken out of the environment, which
 * process reports and children show.
 *
 * Throws USAGE, without the key, where the key is empty, has several lines or does not fit into an HTTP header, or the
 * file can not be read.
 */
export async function readApiKey(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { WALLETLAKE_API_KEY: key, WALLETLAKE_API_KEY_FILE: file } = env
  delete env['WALLETLAKE_API_KEY']
  if (key !== undefined) return checkKey(key, 'WALLETLAKE_API_KEY')
  if (file === undefined) return undefined
  return checkKey(await readKeyFile(file), `the file of WALLETLAKE_API_KEY_FILE (${file})`)
}

const KEY_FILE_BYTES = 64 * 1024

async function readKeyFile(file: string): Promise<string> {
  const read = (await refuseFile(file, KEY_FILE_BYTES)) ?? (await readFile(file, 'utf8').catch(refusalOf))
  if (typeof read === 'string') return read.trim()
  throw refusal(`WALLETLAKE_API_KEY_FILE: found ${read.found} (${file}), expected ${read.expected}`)
}

function checkKey(key: string, where: string): string {
  const found = faultOf(key)
  if (found === undefined) return key
  throw refusal(`${where}: found ${found}, expected the key alone, on one line`)
}

function faultOf(key: string): string | undefined {
  if (key.trim() === '') return 'nothing'
  if (/[\r\n]/.test(key)) return 'several lines'
  return /^[!-~]([ -~]*[!-~])?$/.test(key) ? undefined : 'characters that an HTTP header can not carry'
}

function refusal(what: string): ExportError {
  const fix =
    'Set WALLETLAKE_API_KEY to the key, or WALLETLAKE_API_KEY_FILE to a file that holds it and nothing else.'
  return new ExportError('USAGE', what, { fix })
}
