import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ScheduleAfter } from '../../src/demo-server/timers.ts'
import { listenOnLoopback } from '../helpers/serve.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests assert the shape of the body
export type Received = { headers: IncomingHttpHeaders; text: string; body: any; path: string | undefined }

/**
 * A receiver of deliveries on loopback. `statusOf` returns the status of each response by the number of earlier
 * requests.
 */
export async function startReceiver(statusOf: (count: number) => number | 'nothing' = () => 200) {
  const received: Received[] = []
  const arrivals = new EventEmitter()
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const status = statusOf(received.length)
    received.push({ headers: request.headers, text: body, body: JSON.parse(body), path: request.url })
    arrivals.emit('arrival')
    if (status !== 'nothing') response.writeHead(status, { location: '/elsewhere' }).end('thanks')
  })
  const port = await listenOnLoopback(server)
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  const arrived = async (count: number) => {
    while (received.length < count) await once(arrivals, 'arrival')
  }
  return {
    arrived,
    url: `http://127.0.0.1:${port}/hook`,
    received,
    server,
    close,
  }
}

/** Timers that fire only when the test calls `pass`, which fires all pending ones in the order of their creation. */
export function manualTimers() {
  const waiting = new Set<{ delayMs: number; run: () => void }>()
  const after: ScheduleAfter = (delayMs, run) => {
    const timer = { delayMs, run }
    waiting.add(timer)
    return () => waiting.delete(timer)
  }
  const delays = () => [...waiting].map(({ delayMs }) => delayMs)
  const pass = () => {
    for (const timer of [...waiting]) {
      waiting.delete(timer)
      timer.run()
    }
  }
  return { after, delays, pass }
}
