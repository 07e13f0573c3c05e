import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DataService, ServiceAnswer } from '../../src/demo-server/data-service.ts'
import { serve } from './serve.ts'

export type Asked = {
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  count: number
}

/**
 * What goes wrong with one request; undefined: nothing. A function writes what it likes, with the right answer at
 * hand, or leaves the response hanging.
 */
export type Fault = (
  asked: Asked,
) => undefined | ((response: ServerResponse, answer: ServiceAnswer) => void | Promise<void>)

export type Loopback = { url: string; asked: Asked[] }

/** A real server on a free loopback port in front of a data service, with faults; it ends with the test. */
export async function startLoopback(service: DataService, fault: Fault = () => undefined): Promise<Loopback> {
  const asked: Asked[] = []
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://loopback')
    const one = { path: pathname, query: searchParams, headers: request.headers, count: asked.length + 1 }
    asked.push(one)
    const headers = request.headers as Record<string, string | undefined>
    const answer = await service.answer({ method: request.method ?? 'GET', url: request.url ?? '/', headers })
    const wrong = fault(one)
    if (wrong !== undefined) await wrong(response, answer)
    else send(response, answer)
  }
  return { url: await serve(handle), asked }
}

/** Writes an answer as it is. */
export function send(response: ServerResponse, { status, headers, body }: ServiceAnswer): void {
  response.writeHead(status, headers)
  response.end(body)
}
