// A Redis of the benchmark's own, on a free port of 127.0.0.1.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export async function startRedis() {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-redis-'))
  const port = await freePort()
  const options = [
    '--port',
    port,
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--appendonly',
    'yes',
    '--save',
    '',
  ]
  const server = spawn('redis-server', options.map(String), { stdio: ['ignore', 'pipe', 'inherit'] })
  await until(server.stdout, /Ready to accept connections/)
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: async () => {
      server.kill()
      await once(server, 'close')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

async function until(stream, word) {
  for await (const [chunk] of readOn(stream)) if (word.test(String(chunk))) break
  stream.resume()
}

async function* readOn(stream) {
  while (true) yield await once(stream, 'data')
}
