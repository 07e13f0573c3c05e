import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
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
  onTestFinished(() => {
    if (failures.length > 0) throw failures[0]
  })
  return `http://127.0.0.1:${await listenOnLoopback(server)}`
}

/** Lets a server listen on a free loopback port until the test ends, and returns the port. */
export async function listenOnLoopback(
  server: Server & { closeAllConnections?: () => void },
): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections?.()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** The URL of a loopback port on which nothing listens. */
export async function closedUrl(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}
