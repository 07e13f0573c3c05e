import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import pLimit from 'p-limit'
import { main } from '../../src/cli/main.ts'

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

/**
 * Runs a command line until it ends: in this process, or with shell commands or another variable than those of walletlake as
 * the built program. Commands in this process run one after the other, because they share its environment and streams.
 */
export function runCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  options?: StartOptions,
): Promise<CommandResult> {
  const isPlain = options?.shell === undefined && Object.keys(env).every(isOurs)
  return isPlain
    ? oneAtATime(() => runInProcess(args, env, options?.cwd))
    : startCommand(args, env, options).ended
}

const oneAtATime = pLimit(1)

async function runInProcess(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd = process.cwd(),
): Promise<CommandResult> {
  const folder = process.cwd()
  const streams = [process.stdout, process.stderr].map(captureWrites)
  const before = Object.entries(process.env).filter(([name]) => isOurs(name))
  for (const [name] of before) delete process.env[name]
  Object.assign(process.env, env)
  process.chdir(cwd)
  try {
    const exit = await main(args)
    const [stdout = '', stderr = ''] = streams.map(({ written }) => written.join(''))
    return { exit, stdout, stderr }
  } finally {
    process.chdir(folder)
    for (const name of Object.keys(env)) delete process.env[name]
    Object.assign(process.env, Object.fromEntries(before))
    for (const { restore } of streams) restore()
  }
}

/** Collects what is written to a stream from now on, instead of writing it. */
function captureWrites(stream: NodeJS.WriteStream) {
  const written: string[] = []
  const { write } = stream
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    written.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())
    const done = rest.at(-1)
    if (typeof done === 'function') process.nextTick(done)
    return true
  }
  const restore = () => {
    stream.write = write
  }
  return { written, restore }
}

const isOurs = (variable: string) => variable.startsWith('WALLETLAKE_')

function cleanEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name)))
}
