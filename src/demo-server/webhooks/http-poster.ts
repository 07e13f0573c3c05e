import { type ClientRequest, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { ScheduleAfter } from '../timers.ts'

export type HttpPoster = {
  /**
   * Posts a text once over a new connection, without following redirects. Returns the response status, or undefined if no
   * complete response arrived in time.
   */
  post(message: HttpMessage): Promise<number | undefined>
  /** Closes all connections. */
  close(): void
}

type HttpMessage = { readonly url: string; readonly headers: Record<string, string>; readonly text: string }

export function createHttpPoster({
  scheduleAfter,
  timeoutMs,
}: {
  scheduleAfter: ScheduleAfter
  timeoutMs: number
}): HttpPoster {
  const open = new Set<ClientRequest>()
  return {
    async post(message) {
      const request = openRequest(message)
      open.add(request)
      const cancel = scheduleAfter(timeoutMs, () => request.destroy())
      const status = await statusOf(request, message.text)
      cancel()
      open.delete(request)
      return status
    },
    close() {
      for (const request of open) request.destroy()
    },
  }
}

function openRequest({ url, headers, text }: HttpMessage): ClientRequest {
  const request = url.startsWith('https:') ? requestHttps : requestHttp
  const length = { 'content-length': String(Buffer.byteLength(text)) }
  return request(url, { method: 'POST', agent: false, headers: { ...headers, ...length } })
}

function statusOf(request: ClientRequest, text: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    request.on('error', () => resolve(undefined))
    request.on('close', () => resolve(undefined))
    request.on('response', (response) => {
      response.on('error', () => resolve(undefined))
      response.on('end', () => resolve(response.statusCode))
      response.resume()
    })
    request.end(text)
  })
}
