import { expect, test } from 'vitest'
import type { RequestContext } from '../../../../src/http/request.ts'
import { type RangeSpec, readRange } from '../../../../src/sources/data-api/pages/read-range.ts'
import type { RangePage } from '../../../../src/sources/source.ts'
import { fakeRequester, type Reply } from './fake-requester.ts'
import { bodyOf, itemAt } from './listing.ts'

const request: RangeSpec = {
  chain: '1',
  address: '0xaa',
  range: { from: 0, to: 100 },
  order: 'asc',
  cutoffMs: Number.POSITIVE_INFINITY,
}

async function read(requestContext: RequestContext, given: Partial<RangeSpec> = {}) {
  const pages: RangePage[] = []
  let error: unknown
  try {
    for await (const page of readRange(requestContext, { ...request, ...given })) pages.push(page)
  } catch (thrown) {
    error = thrown
  }
  return { pages, covered: pages.map(({ covered }) => [covered.from, covered.to]), error }
}

const malformed = expect.objectContaining({ code: 'PAGE_MALFORMED' })
const page = (blocks: readonly number[], next?: string): Reply => ({
  body: bodyOf(
    blocks.map((block) => itemAt(block)),
    next,
  ),
})

test('completes the whole range with one page without a token', async () => {
  const { requestContext, received } = fakeRequester(() => page([5]))
  const { covered } = await read(requestContext)
  expect(covered).toEqual([[0, 100]])
  expect(received).toEqual([{ address: '0xaa', from: 0, to: 100, order: 'asc', token: undefined, size: 100 }])
})

test('repeats all parameters with each token', async () => {
  const { requestContext, received } = fakeRequester(({ token }) =>
    token === undefined ? page([5, 9], 'a') : page([12, 60]),
  )
  const { covered } = await read(requestContext)
  expect(covered).toEqual([
    [0, 6],
    [6, 100],
  ])
  expect(received[1]).toMatchObject({ from: 0, to: 100, order: 'asc', token: 'a' })
})

test('completes blocks downwards when it reads the newest block first', async () => {
  const { requestContext } = fakeRequester(({ token }) =>
    token === undefined ? page([90, 70], 'a') : page([68, 3]),
  )
  const { covered } = await read(requestContext, { order: 'desc' })
  expect(covered).toEqual([
    [90, 100],
    [0, 90],
  ])
})

test('requests the last second again when a token is refused', async () => {
  const { requestContext, received } = fakeRequester(({ from, token }) => {
    if (token !== undefined) return { status: 400 }
    return from === 0 ? page([5, 40], 'old') : page([40, 80])
  })
  const { pages, error } = await read(requestContext)
  expect(error).toBeUndefined()
  expect(received.map(({ from, token }) => [from, token])).toEqual([
    [0, undefined],
    [0, 'old'],
    [6, undefined],
  ])
  expect(pages).toHaveLength(2)
})

test('requests the same blocks again when a token expires within one block', async () => {
  let refusals = 0
  const { requestContext } = fakeRequester(({ token }) => {
    if (token === undefined) return page([0], 'a')
    refusals += 1
    return refusals === 1 ? { status: 400 } : page([7])
  })
  const { error, covered } = await read(requestContext)
  expect(error).toBeUndefined()
  expect(covered.at(-1)).toEqual([0, 100])
})

test('gives up when tokens are refused without progress', async () => {
  const { requestContext, received } = fakeRequester(({ token }) =>
    token === undefined ? page([0, 0], 'a') : { status: 400 },
  )
  const { error } = await read(requestContext)
  expect(error).toEqual(malformed)
  expect(received.length).toBeLessThan(20)
})

test('continues a second of several pages whose tokens are each refused twice, the later ones first', async () => {
  const refused = ['b', 'a', 'a', 'b']
  const next: Record<string, Reply> = { a: page([0], 'b'), b: page([0]) }
  const { requestContext } = fakeRequester(({ token }) => {
    if (token === undefined) return page([0], 'a')
    if (token !== refused[0]) return next[token] ?? {}
    refused.shift()
    return { status: 400 }
  })
  const { error, covered } = await read(requestContext)
  expect(error).toBeUndefined()
  expect(covered.at(-1)).toEqual([0, 100])
})

test('leaves a token chain that repeats a token', async () => {
  const { requestContext, received } = fakeRequester(({ from, token }) => {
    if (from === 26) return page([30, 50])
    return token === undefined ? page([5, 20], 'a') : page([25, 30], 'a')
  })
  const { error } = await read(requestContext)
  expect(error).toBeUndefined()
  expect(received.map(({ from }) => from)).toEqual([0, 0, 26])
})

test('continues after empty pages that have a token', async () => {
  const next: Record<string, Reply> = { a: page([], 'b'), b: page([8]) }
  const { requestContext } = fakeRequester(({ token }) =>
    token === undefined ? page([], 'a') : (next[token] ?? {}),
  )
  const { covered } = await read(requestContext)
  expect(covered).toEqual([
    [0, 0],
    [0, 0],
    [0, 100],
  ])
})

test('completes nothing with a page whose next page precedes it', async () => {
  const { requestContext } = fakeRequester(({ token }) =>
    token === undefined ? page([50, 60], 'a') : page([5, 9]),
  )
  const { pages, error } = await read(requestContext)
  expect(error).toEqual(malformed)
  expect(pages).toEqual([])
})

test('yields the pages read so far when the service becomes unavailable', async () => {
  const { requestContext } = fakeRequester(({ token }) =>
    token === undefined ? page([5, 9], 'a') : { status: 503 },
  )
  const { covered, error } = await read(requestContext)
  expect(error).toEqual(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE', status: 503 }))
  expect(covered).toEqual([[0, 6]])
})

test('names the wallet and its blocks in an error, but not the token', async () => {
  const { requestContext } = fakeRequester(() => ({
    status: 404,
    body: Buffer.from('{"message":["no","such?key=1"]}'),
  }))
  const { error } = await read(requestContext)
  expect((error as Error).message).toBe('wallet 0xaa, blocks 0 to 99: the service answered 404: no; such?…')
})
