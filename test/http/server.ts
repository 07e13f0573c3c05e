import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import { createServiceClient, type ServiceClient, type ServiceClientOptions } from '../../src/index.ts'
import { serve } from '../helpers/serve.ts'

export type ReceivedRequest = {
  method: string
  path: string
  query: Record<string, string> & { pageToken?: string }
  headers: IncomingMessage['headers']
  /** Parsed JSON; undefined without a body. */
  body: unknown
}

/**
 * A response. A body that is neither text nor bytes is sent as JSON. A function writes the response itself,
 * breaks the connection or never responds.
 */
export type Reply =
  | { status?: number; headers?: Record<string, string>; body?: unknown }
  | ((response: ServerResponse) => unknown)

export type Loopback = { url: string; received: ReceivedRequest[] }

/** Starts an HTTP server on a free loopback port that responds with `reply`, until the end of the test. */
export async function startServer(
  reply: (received: ReceivedRequest, count: number) => Reply,
): Promise<Loopback> {
  const received: ReceivedRequest[] = []
  const url = await serve(async (request, response) => {
    const one = await readRequest(request)
    received.push(one)
    write(response, reply(one, received.length))
  })
  return { url, received }
}

async function readRequest(request: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { pathname, searchParams } = new URL(`http://loopback${request.url}`)
  return {
    method: request.method ?? '',
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: request.headers,
    body: chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString()),
  }
}

function write(response: ServerResponse, reply: Reply): void {
  if (typeof reply === 'function') return void reply(response)
  const { status = 200, headers = {}, body = '' } = reply
  const raw = typeof body === 'string' || Buffer.isBuffer(body)
  response.writeHead(status, headers).end(raw ? body : JSON.stringify(body))
}

/** Resets the connection without a response. */
export const reset = (response: ServerResponse) => response.socket?.resetAndDestroy()

/** Creates a client with short retry delays that is closed at the end of the test. */
export function clientOf(url: string, options: Partial<ServiceClientOptions> = {}): ServiceClient {
  const retry = { retries: 2, firstDelayMs: 1, maxDelayMs: 2 }
  const client = createServiceClient({ baseUrl: url, retry, ...options })
  onTestFinished(() => client.close())
  return client
}

/** The error with which a promise rejects. */
export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (value) => expect.fail(`it resolved with ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  )
}

/** Collects all pages of a listing. */
export async function pagesOf<Page>(pages: AsyncIterable<Page>): Promise<Page[]> {
  const all: Page[] = []
  for await (const page of pages) all.push(page)
  return all
}
