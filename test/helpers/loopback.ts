import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DataService, ServiceResponse } from '../../src/demo-server/data-service.ts'
import { serve } from './serve.ts'

export type ReceivedRequest = {
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
  request: ReceivedRequest,
) => undefined | ((response: ServerResponse, answer: ServiceResponse) => void | Promise<void>)

export type Loopback = { url: string; requests: ReceivedRequest[] }

/** A real server on a free loopback port in front of a data service, with faults; it ends with the test. */
export async function startLoopback(service: DataService, fault: Fault = () => undefined): Promise<Loopback> {
  const requests: ReceivedRequest[] = []
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://loopback')
    const received = {
      path: pathname,
      query: searchParams,
      headers: request.headers,
      count: requests.length + 1,
    }
    requests.push(received)
    const headers = request.headers as Record<string, string | undefined>
    const serviceResponse = await service.handle({
      method: request.method ?? 'GET',
      url: request.url ?? '/',
      headers,
    })
    const respondWrongly = fault(received)
    if (respondWrongly !== undefined) await respondWrongly(response, serviceResponse)
    else send(response, serviceResponse)
  }
  return { url: await serve(handle), requests }
}

/** Writes an answer as it is. */
export function send(response: ServerResponse, { status, headers, body }: ServiceResponse): void {
  response.writeHead(status, headers)
  response.end(body)
}
