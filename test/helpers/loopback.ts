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
 * Decides on the fault of a request: undefined for none, or a function that writes any response (it gets the correct one),
 * or writes none and leaves the request pending.
 */
export type Fault = (
  request: ReceivedRequest,
) => undefined | ((response: ServerResponse, original: ServiceResponse) => void | Promise<void>)

export type Loopback = { url: string; requests: ReceivedRequest[] }

/** Starts an HTTP server for a data service on a free loopback port, with faults. It is closed when the test ends. */
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
    const respondWithFault = fault(received)
    if (respondWithFault !== undefined) await respondWithFault(response, serviceResponse)
    else send(response, serviceResponse)
  }
  return { url: await serve(handle), requests }
}

/** Writes a response unchanged. */
export function send(response: ServerResponse, { status, headers, body }: ServiceResponse): void {
  response.writeHead(status, headers)
  response.end(body)
}
