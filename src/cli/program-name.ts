import { readFileSync } from 'node:fs'
import { basename, delimiter, dirname, relative, sep } from 'node:path'
import { shellQuote } from '../terminal/shell-quote.ts'

type Process = Pick<NodeJS.Process, 'argv' | 'env' | 'cwd'>

/**
 * Returns the command that starts this program in the same folder in the same way as the user did: `walletlake`,
 * `npx walletlake` (with `--package` if npx was given another package), or `node` with the path of the file.
 */
export function programName({ argv, env, cwd }: Process = process): string {
  const script = argv[1] ?? ''
  const isInstalled = script.split(sep).includes('node_modules')
  if (isInstalled && env.npm_command !== undefined)
    return ['npx', ...npxPackageArguments(script), PROGRAM_NAME].join(' ')
  if (basename(script) === 'bin.js')
    return isInstalled ? PROGRAM_NAME : `node ${shellQuote(relative(cwd(), script))}`
  const isOnPath = (env.PATH ?? '').split(delimiter).includes(dirname(script))
  return isOnPath ? PROGRAM_NAME : shellQuote(executablePath(cwd(), script))
}

/** Adds `./` to a path without a slash, because a shell would look for it on the PATH only. */
function executablePath(folder: string, script: string): string {
  const path = relative(folder, script)
  return path.includes(sep) ? path : `.${sep}${path}`
}

const PROGRAM_NAME = 'walletlake'

/** npx installs packages of a single call to a separate folder, whose package.json contains the requested package. */
function npxPackageArguments(script: string): string[] {
  const [folder = ''] = script.split(`${sep}node_modules${sep}`)
  if (basename(dirname(folder)) !== '_npx') return []
  try {
    const { _npx: npxRequest } = JSON.parse(readFileSync(`${folder}${sep}package.json`, 'utf8'))
    const [spec] = npxRequest.packages
    return spec === PROGRAM_NAME ? [] : ['--package', shellQuote(String(spec))]
  } catch {
    return []
  }
}
