import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../helpers/free-port.ts'
import { findPostgres, isMissing } from '../helpers/programs.ts'

export type Postgres = {
  /** URL including the password. */
  readonly url: string
  readonly port: number
  readonly user: string
  readonly password: string
  /** Crashes the server and starts it again with the same data and port. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const PASSWORD = 'p@ss/w:rd'

/** Whether tests that need PostgreSQL must be skipped. */
export const noPostgres = isMissing('PostgreSQL')

/** Starts a private server with a password, in a temporary folder, on a free port of 127.0.0.1. */
export async function startPostgres(): Promise<Postgres> {
  const programs = findPostgres()
  if (programs === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql')
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-postgres-'))
  const owner = ownerOf(folder)
  writeFileSync(join(folder, 'password'), PASSWORD, { mode: 0o644 })
  execFileSync(
    join(programs, 'initdb'),
    [
      '-D',
      join(folder, 'db'),
      '-U',
      'lake',
      '-A',
      'scram-sha-256',
      '-E',
      'UTF8',
      '--no-locale',
      '--no-sync',
      '--pwfile',
      join(folder, 'password'),
    ],
    { ...owner, stdio: 'pipe' },
  )
  for (let turn = 1; ; turn += 1) {
    const port = await freePort()
    const start = () => startServer(programs, { folder, port, owner })
    const server = await start()
    if (server !== undefined) return running(server, { folder, port, start })
    if (turn === 5) throw new Error('PostgreSQL does not start')
  }
}

/** The server refuses to run as root, so for root this is Debian's user postgres, or nobody. */
function ownerOf(folder: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const user = ['postgres', 'nobody'].flatMap((name) => {
    try {
      return [Number(execFileSync('id', ['-u', name], { stdio: 'pipe' }))]
    } catch {
      return []
    }
  })[0]
  if (user === undefined) return {}
  chownSync(folder, user, -1)
  chmodSync(folder, 0o755)
  return { uid: user }
}

type Starting = { folder: string; port: number; owner: { uid?: number } }

async function startServer(
  programs: string,
  { folder, port, owner }: Starting,
): Promise<ChildProcess | undefined> {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    port,
    log_destination: 'stderr',
    fsync: 'off',
    full_page_writes: 'off',
    max_connections: 60,
    shared_buffers: '16MB',
    max_wal_senders: 0,
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const args = ['-D', join(folder, 'db'), ...flags]
  const server = spawn(join(programs, 'postgres'), args, {
    ...owner,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  for await (const line of createInterface({ input: server.stderr })) {
    if (line.includes('ready to accept connections')) {
      server.stderr.resume()
      return server
    }
  }
  return undefined
}

type Running = { folder: string; port: number; start: () => Promise<ChildProcess | undefined> }

function running(first: ChildProcess, { folder, port, start }: Running): Postgres {
  let server: ChildProcess | undefined = first
  const crash = async () => {
    const ended = server && once(server, 'exit')
    server?.kill('SIGQUIT')
    await ended
  }
  return {
    url: `postgres://lake:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres`,
    port,
    user: 'lake',
    password: PASSWORD,
    restart: async () => {
      await crash()
      server = await start()
      if (server === undefined) throw new Error('PostgreSQL does not start again')
    },
    stop: async () => {
      await crash()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
