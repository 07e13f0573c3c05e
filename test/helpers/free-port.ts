import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A port of 127.0.0.1 that nobody listens on at this moment. It lies below those that systems give to whoever asks for any:
 * so no other test gets it before the server that it is for has begun.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_240, 16_000)
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
