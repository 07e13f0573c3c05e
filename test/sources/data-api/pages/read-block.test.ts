import { expect, test } from 'vitest'
import type { ApiResponse } from '../../../../src/http/http-client.ts'
import { createRateLimiter } from '../../../../src/http/rate-limit/rate-limiter.ts'
import type { RequestContext } from '../../../../src/http/request.ts'
import { createAdaptivePageSize } from '../../../../src/sources/adaptive-page-size.ts'
import { readBlock } from '../../../../src/sources/data-api/pages/read-block.ts'
import type { PartialBlock } from '../../../../src/sources/source.ts'
import { fakeClient } from '../../../helpers/fake-client.ts'
import { bodyOf, itemAt } from './listing.ts'

type Reply = { status?: number; body?: Buffer }

/** A request context whose service responds by page token. It records the requests. */
function fakeRequester(reply: (token: string | undefined, count: number) => Reply) {
  const received: string[] = []
  const send = async ({ pathAndQuery }: { pathAndQuery: string }): Promise<ApiResponse> => {
    received.push(pathAndQuery)
    const token = new URL(pathAndQuery, 'http://loopback').searchParams.get('pageToken') ?? undefined
    return { status: 200, headers: {}, body: bodyOf([]), ...reply(token, received.length) }
  }
  const requestContext: RequestContext = {
    client: fakeClient(send),
    rateLimiter: createRateLimiter(),
    limit: (task) => task(),
    retry: { retries: 2, firstDelayMs: 0 },
    signal: new AbortController().signal,
    onEvent: () => {},
  }
  return { requester: requestContext, received }
}

const native = (block: number, index: number) => itemAt(block, { index }).nativeTransaction
const page = (indexes: readonly number[], next?: string): Reply => ({
  body: bodyOf(
    indexes.map((index) => native(7, index)),
    next,
  ),
})
const request = { chain: 'c/1', block: 7 }
const pagesIn = (body: Buffer) => JSON.parse(`[${body}]`) as { transactions: unknown[] }[]

test('requests each page with block number, page size and token', async () => {
  const { requester: requestContext, received } = fakeRequester((token) =>
    token === undefined ? page([0, 1], 'a&b') : page([2]),
  )
  const { body, ...counts } = await readBlock(requestContext, request)
  expect(received).toEqual([
    '/v1/chains/c%2F1/blocks/7/transactions?pageSize=100',
    '/v1/chains/c%2F1/blocks/7/transactions?pageSize=100&pageToken=a%26b',
  ])
  expect(counts).toEqual({ pages: 2, items: 3, bad: 0 })
  expect(pagesIn(body).map(({ transactions }) => transactions.length)).toEqual([2, 1])
})

test('reads an empty block with one request', async () => {
  const { requester: requestContext, received } = fakeRequester(() => ({ body: bodyOf([]) }))
  expect(await readBlock(requestContext, request)).toMatchObject({ pages: 1, items: 0, bad: 0 })
  expect(received).toHaveLength(1)
})

test('counts items without a key and keeps their page', async () => {
  const { requester: requestContext } = fakeRequester(() => ({
    body: bodyOf([native(7, 0), null, { txHash: '0x' }]),
  }))
  expect(await readBlock(requestContext, request)).toMatchObject({ items: 3, bad: 2 })
})

test('continues after the pages that an earlier run has read', async () => {
  const incomplete: PartialBlock[] = []
  const onIncomplete = async (pages: PartialBlock) => void incomplete.push(pages)
  const broken = fakeRequester((token) => (token === 'b' ? { status: 500 } : page([0], token ? 'b' : 'a')))
  await expect(readBlock(broken.requester, { ...request, onIncomplete })).rejects.toMatchObject({
    status: 500,
  })
  expect(incomplete).toMatchObject([{ pages: 2, items: 2, token: 'b' }])
  const { requester: requestContext, received } = fakeRequester(() => page([1]))
  const { body, ...counts } = await readBlock(requestContext, { ...request, partial: incomplete[0] })
  expect(received).toHaveLength(1)
  expect(counts).toEqual({ pages: 3, items: 3, bad: 0 })
  expect(pagesIn(body)).toHaveLength(3)
})

test('continues with the page size of the token, unless it has become too large', async () => {
  const incomplete: PartialBlock[] = []
  const onIncomplete = async (pages: PartialBlock) => void incomplete.push(pages)
  const small = (path: string | undefined) => /pageSize=50\b/.test(path ?? '')
  const broken = fakeRequester((token) => {
    if (!small(broken.received.at(-1))) return { status: 413 }
    return token === undefined ? page([0], 'a') : { status: 500 }
  })
  await expect(readBlock(broken.requester, { ...request, onIncomplete })).rejects.toMatchObject({
    status: 500,
  })
  const [partial] = incomplete
  const resumed = fakeRequester(() => page([1]))
  expect(await readBlock(resumed.requester, { ...request, partial })).toMatchObject({ pages: 2, items: 2 })
  expect(resumed.received).toEqual([expect.stringContaining('pageSize=50&pageToken=a')])
  const size = createAdaptivePageSize({ index: 2, listings: 0, wait: 8 })
  const smaller = fakeRequester(() => page([0, 1]))
  expect(await readBlock(smaller.requester, { ...request, partial, size })).toMatchObject({
    pages: 1,
    items: 2,
  })
  expect(smaller.received).toEqual([expect.stringMatching(/pageSize=25$/)])
})

test('reads the whole block if the token of an earlier run has expired', async () => {
  const partial = { body: Buffer.from('{}'), pages: 1, items: 100, bad: 0, token: 'old' }
  const { requester: requestContext } = fakeRequester((token) =>
    token === 'old' ? { status: 404 } : page([0]),
  )
  expect(await readBlock(requestContext, { ...request, partial })).toMatchObject({ pages: 1, items: 1 })
})

test('keeps nothing of a block whose first page fails', async () => {
  const { requester: requestContext } = fakeRequester(() => ({ status: 500 }))
  const onIncomplete = () => expect.fail('it kept something')
  await expect(readBlock(requestContext, { ...request, onIncomplete })).rejects.toMatchObject({ status: 500 })
})

test.for([400, 404])('starts over when %s refuses a token', async (status) => {
  const { requester: requestContext, received } = fakeRequester((token, count) => {
    if (token === undefined) return page([0], 'a')
    return count === 2 ? { status } : page([1])
  })
  expect(await readBlock(requestContext, request)).toMatchObject({ pages: 2, items: 2 })
  expect(received).toHaveLength(4)
})

test('starts over while tokens are refused, each of them twice', async () => {
  const refused = ['b', 'a', 'a', 'b']
  const { requester: requestContext } = fakeRequester((token) => {
    if (token === undefined) return page([0], 'a')
    if (token !== refused[0]) return token === 'a' ? page([1], 'b') : page([2])
    refused.shift()
    return { status: 400 }
  })
  expect(await readBlock(requestContext, request)).toMatchObject({ pages: 3, items: 3 })
})

test.for([
  { what: 'always refuses its tokens', later: { status: 400 } },
  { what: 'repeats a token', later: page([1], 'a') },
])('gives up on a service that $what', async ({ later }) => {
  const { requester: requestContext, received } = fakeRequester((token) =>
    token === undefined ? page([0], 'a') : later,
  )
  await expect(readBlock(requestContext, request)).rejects.toMatchObject({
    code: 'PAGE_MALFORMED',
    message: 'block 7: the service repeats or refuses its own page tokens',
  })
  expect(received.length).toBeLessThan(20)
})

test('distinguishes a missing block from other refusals', async () => {
  const { requester: requestContext } = fakeRequester(() => ({
    status: 404,
    body: Buffer.from('{"message":"no such block"}'),
  }))
  await expect(readBlock(requestContext, request)).rejects.toMatchObject({
    code: 'REQUEST_REFUSED',
    status: 404,
    message: 'block 7: the service answered 404: no such block',
  })
})

test('rejects a transaction of another block', async () => {
  const { requester: requestContext, received } = fakeRequester(() => ({
    body: bodyOf([native(7, 0), native(8, 0)]),
  }))
  await expect(readBlock(requestContext, request)).rejects.toMatchObject({
    code: 'PAGE_MALFORMED',
    message: expect.stringContaining('block 8, outside [7, 8)'),
  })
  expect(received).toHaveLength(3)
})

const withHash = (blockHash: string, indexes: readonly number[], next?: string): Reply => ({
  body: bodyOf(
    indexes.map((index) => ({ ...native(7, index), blockHash })),
    next,
  ),
})

test('reads a block again that is replaced between two of its pages', async () => {
  const { requester: requestContext, received } = fakeRequester((token, count) => {
    const hash = count === 1 ? '0xold' : '0xnew'
    return token === undefined ? withHash(hash, [0, 1], 'a') : withHash(hash, [2])
  })
  const { body } = await readBlock(requestContext, request)
  expect(body.toString()).not.toContain('0xold')
  expect(received).toHaveLength(4)
})

test('reads a block again that was replaced since an earlier run read its first pages', async () => {
  const { requester: requestContext } = fakeRequester((token) =>
    token === undefined ? withHash('0xnew', [0, 1], 'b') : withHash('0xnew', [2]),
  )
  const partial: PartialBlock = {
    pages: 1,
    items: 2,
    bad: 0,
    token: 'a',
    body: withHash('0xold', [0, 1]).body as Buffer,
  }
  const { body, pages } = await readBlock(requestContext, { ...request, partial })
  expect([body.toString().includes('0xold'), pages]).toEqual([false, 2])
})

test.for([413, 504])('requests a block in smaller pages after %i, from its first page on', async (status) => {
  const { requester: requestContext, received } = fakeRequester((token) => {
    const size = Number(/pageSize=(\d+)/.exec(received.at(-1) ?? '')?.[1])
    if (size > 50) return token === undefined && received.length === 1 ? page([0], 'a') : { status }
    return token === undefined ? page([0], 'b') : page([1])
  })
  expect(await readBlock(requestContext, request)).toMatchObject({ pages: 2, items: 2 })
  expect(received.map((path) => path.split('?')[1])).toEqual([
    'pageSize=100',
    'pageSize=100&pageToken=a',
    'pageSize=50',
    'pageSize=50&pageToken=b',
  ])
})

test.for([
  ['is empty', []],
  ['repeats the last one', [0]],
] as const)('ends with an error if each page %s and has a new token', async ([, indexes]) => {
  const stopped: PartialBlock[] = []
  const { requester: requestContext, received } = fakeRequester(() =>
    page(indexes, `token ${received.length}`),
  )
  const onIncomplete = async (incomplete: PartialBlock) => void stopped.push(incomplete)
  await expect(readBlock(requestContext, { ...request, onIncomplete })).rejects.toMatchObject({
    code: 'PAGE_MALFORMED',
    fix: expect.stringContaining('nextPageToken'),
    message: 'block 7: the last 50 pages contained nothing new, and each had a nextPageToken',
  })
  expect(stopped).toEqual([])
})
