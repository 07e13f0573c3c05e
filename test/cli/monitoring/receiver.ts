import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
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
