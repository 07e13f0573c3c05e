import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const BIN = fileURLToPath(new URL('../../dist/bin.js', import.meta.url))

export type CommandResult = { exit: number | null; stdout: string; stderr: string }

export type StartOptions = {
  /** Shell commands to run first, in the process that the program then replaces with `exec`. */
  shell?: string
  cwd?: string
}

/** Starts the built program as a user would, without the WALLETLAKE_ variables of this process. */
export function startCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  { shell, cwd }: StartOptions = {},
): ChildProcess & { ended: Promise<CommandResult> } {
  const line = [process.execPath, BIN, ...args]
  const [command = '', ...rest] =
    shell === undefined ? line : ['sh', '-c', `${shell} && exec "$0" "$@"`, ...line]
  const child = spawn(command, rest, {
    env: { ...cleanEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  })
  const output = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk) => (output.stdout += String(chunk)))
  child.stderr?.on('data', (chunk) => (output.stderr += String(chunk)))
  const ended = once(child, 'close').then(([exit]) => ({ exit: exit as number | null, ...output }))
  return Object.assign(child, { ended })
}

/** Runs the built program until it exits. */
export function runCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  options: StartOptions = {},
): Promise<CommandResult> {
  return startCommand(args, env, options).ended
}

function cleanEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('WALLETLAKE_')))
}
