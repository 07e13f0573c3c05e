import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

/**
 * Starts a server on a free loopback port and returns its URL. It is closed when the test ends. If the handler throws or
 * rejects, the connection is closed, so that no client waits for its timeout, and the test fails with that error.
 */
export async function serve(handle: Handler): Promise<string> {
  const failures: unknown[] = []
  const server = createServer(async (request, response) => {
    try {
      await handle(request, response)
    } catch (thrown) {
      failures.push(thrown)
      request.socket.destroy()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
    if (failures.length > 0) throw failures[0]
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
