import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { isMissing } from './programs.ts'

export type TestRedis = {
  readonly url: string
  /** Kills the server and starts it again on the same port with its data. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Whether Redis is not installed, so that tests of the queue are skipped. */
export const noRedis = isMissing('redis-server')

/** Starts a Redis server on a free port of 127.0.0.1, with an append-only file in a temporary folder. */
export async function startRedis(): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-redis-'))
  const port = await freePort()
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: folder,
    appendonly: 'yes',
    // With fsync, Redis may reply before it has written a command while an fsync is in progress; a kill would lose it.
    appendfsync: 'no',
    'maxmemory-policy': 'noeviction',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  let server = await launch(flags)
  const kill = () => server.kill('SIGKILL')
  process.once('exit', kill)
  const crash = async () => {
    const ended = once(server, 'exit')
    kill()
    await ended
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    restart: async () => {
      await crash()
      server = await launch(flags)
    },
    stop: async () => {
      process.off('exit', kill)
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
