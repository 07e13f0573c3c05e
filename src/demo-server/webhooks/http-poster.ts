import { type ClientRequest, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { After } from '../timers.ts'

export type Poster = {
  /**
   * Posts a text once over a connection of its own, following no redirects, and gives the status of the answer;
   * undefined where none came in time, or not to its end.
   */
  post(letter: Letter): Promise<number | undefined>
  /** Ends every connection. */
  close(): void
}

type Letter = { readonly url: string; readonly headers: Record<string, string>; readonly text: string }

export function createPoster({ after, timeoutMs }: { after: After; timeoutMs: number }): Poster {
  const open = new Set<ClientRequest>()
  return {
    async post(letter) {
      const request = start(letter)
      open.add(request)
      const cancel = after(timeoutMs, () => request.destroy())
      const status = await statusOf(request, letter.text)
      cancel()
      open.delete(request)
      return status
    },
    close() {
      for (const request of open) request.destroy()
    },
  }
}

function start({ url, headers, text }: Letter): ClientRequest {
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
