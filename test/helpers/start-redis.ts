import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { isMissing } from './programs.ts'

export type TestRedis = {
  readonly url: string
  /** Ends it as a crash does, and starts it again where it was. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** True where tests of a queue have to be skipped. */
export const noRedis = isMissing('redis-server')

/** A server of the test's own, with a log of what was written, in a temporary folder, on a free port of 127.0.0.1. */
export async function startRedis(): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-redis-'))
  const port = await freePort()
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: folder,
    appendonly: 'yes',
    // While an fsync is under way Redis would answer before it has written a command: a crash lost it.
    appendfsync: 'no',
    'maxmemory-policy': 'noeviction',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  let server = await launch(flags)
  const killed = () => server.kill('SIGKILL')
  process.once('exit', killed)
  const crash = async () => {
    const ended = once(server, 'exit')
    killed()
    await ended
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    restart: async () => {
      await crash()
      server = await launch(flags)
    },
    stop: async () => {
      process.off('exit', killed)
      await crash()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function launch(flags: string[]) {
  const server = spawn('redis-server', [...flags, '--save', ''], { stdio: ['ignore', 'pipe', 'ignore'] })
  for await (const chunk of server.stdout.iterator({ destroyOnReturn: false }))
    if (String(chunk).includes('Ready to accept')) break
  server.stdout.resume()
  return server
}
