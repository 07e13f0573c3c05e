import type { ApiResponse } from '../../../../src/http/http-client.ts'
import type { RateLimiter } from '../../../../src/http/rate-limit/rate-limiter.ts'
import type { RequestContext } from '../../../../src/http/request.ts'
import { fakeClient } from '../../../helpers/fake-client.ts'
import { bodyOf } from './listing.ts'

export type Query = {
  address: string
  from: number
  to: number
  order: 'asc' | 'desc'
  token: string | undefined
  size: number
}
export type Reply = { status?: number; body?: Buffer }

/** A request context whose service is a function. It records the requests. */
export function fakeRequester(
  reply: (query: Query) => Reply | Promise<Reply>,
  signal = new AbortController().signal,
): { requestContext: RequestContext; received: Query[] } {
  const received: Query[] = []
  const send = async ({ pathAndQuery }: { pathAndQuery: string }): Promise<ApiResponse> => {
    signal.throwIfAborted()
    const { pathname, searchParams: query } = new URL(pathAndQuery, 'http://loopback')
    const one: Query = {
      address: pathname.split('/')[5] ?? '',
      from: Number(query.get('startBlock')),
      to: Number(query.get('endBlock')),
      order: query.get('sortOrder') === 'desc' ? 'desc' : 'asc',
      token: query.get('pageToken') ?? undefined,
      size: Number(query.get('pageSize')),
    }
    received.push(one)
    return { status: 200, headers: {}, body: bodyOf([]), ...(await reply(one)) }
  }
  const requestContext: RequestContext = {
    client: fakeClient(send),
    rateLimiter: UNLIMITED,
    limit: (task) => task(),
    retry: { retries: 2, firstDelayMs: 0 },
    signal,
    onEvent: () => {},
  }
  return { requestContext, received }
}

const UNLIMITED: RateLimiter = { acquire: async () => () => {}, pausedForMs: () => 0 }
