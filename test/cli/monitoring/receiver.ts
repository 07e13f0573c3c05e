import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '../../helpers/serve.ts'

type Received = { method: string; url: string; headers: IncomingHttpHeaders; body: string }
export type Answer = (response: ServerResponse) => void

/** Starts a loopback server that records requests. By default it responds with 200. It is closed when the test ends. */
export async function startReceiver(answer: Answer = (response) => response.end('OK')) {
  const received: Received[] = []
  const url = await serve(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url: path = '', headers } = request
    received.push({ method, url: path, headers, body: Buffer.concat(chunks).toString() })
    answer(response)
  })
  return { url, received }
}

/** Returns the URL of a port on which nothing listens. */
export async function closedAddress(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}
