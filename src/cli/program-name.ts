import { basename, delimiter, dirname, relative, sep } from 'node:path'
import { shellWord } from './shell-word.ts'

type Process = Pick<NodeJS.Process, 'argv' | 'env' | 'cwd'>

/**
 * The words that start this program again, as its user started it: `walletlake`, `npx walletlake`, or `node` and the
 * path of the file. To be typed into a shell in the same folder.
 */
export function programName({ argv, env, cwd }: Process = process): string {
  const script = argv[1] ?? ''
  const isInstalled = script.split(sep).includes('node_modules')
  if (isInstalled && env.npm_command !== undefined) return 'npx walletlake'
  if (basename(script) === 'bin.js' && !isInstalled) return `node ${shellWord(relative(cwd(), script))}`
  const isOnPath = (env.PATH ?? '').split(delimiter).includes(dirname(script))
  return isOnPath || basename(script) === 'bin.js' ? 'walletlake' : shellWord(relative(cwd(), script))
}
