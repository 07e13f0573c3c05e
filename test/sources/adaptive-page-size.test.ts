import { expect, test } from 'vitest'
import { ExportError } from '../../src/core/model/errors.ts'
import { bodyTooLarge } from '../../src/http/body.ts'
import { TimeoutError } from '../../src/http/send-http-request.ts'
import { createAdaptivePageSize, newSharedPageLimit } from '../../src/sources/adaptive-page-size.ts'
import { type RangeSpec, readRange } from '../../src/sources/data-api/pages/read-range.ts'
import { fakeRequester, type Query, type Reply } from './data-api/pages/fake-requester.ts'
import { bodyOf, hashesIn, itemAt } from './data-api/pages/listing.ts'

const request: RangeSpec = {
  chain: '1',
  address: '0xaa',
  order: 'asc',
  cutoffMs: Number.POSITIVE_INFINITY,
  range: { from: 0, to: 100_000 },
}

/** Reads a listing with one transaction per block. `refuse` returns the response to a request that fails. */
async function readWith(count: number, refuse: (query: Query, request: number) => Reply | undefined) {
  const { requestContext, received } = fakeRequester((query) => {
    const refused = refuse(query, received.length)
    if (refused !== undefined) return refused
    const start = Number(query.token?.split(' ')[0] ?? query.from)
    const token = query.token ?? ''
    // A token is only valid for the page size with which it was created, as with some services.
    if (token !== '' && !token.endsWith(` ${query.size}`)) return { status: 400 }
    const end = Math.min(count, start + query.size)
    const items = Array.from({ length: Math.max(0, end - start) }, (_, n) => itemAt(start + n))
    return { body: bodyOf(items, end < count ? `${end} ${query.size}` : undefined) }
  })
  const hashes = new Set<string>()
  let error: unknown
  try {
    for await (const page of readRange(requestContext, request))
      for (const hash of hashesIn(page.body)) hashes.add(hash)
  } catch (thrown) {
    error = thrown
  }
  return { sizes: received.map(({ size }) => size), found: hashes.size, error }
}

const heavy = (status: number, most: number) => (query: Query) => (query.size > most ? { status } : undefined)

test.for([413, 504, 524, 408])('pages become smaller after %i until they arrive', async (status) => {
  const { sizes, found, error } = await readWith(120, heavy(status, 25))
  expect([found, error]).toEqual([120, undefined])
  expect(sizes.slice(0, 3)).toEqual([100, 50, 25])
  expect(sizes.filter((size) => size > 25).length).toBeLessThanOrEqual(3)
})

test('pages grow back immediately after a single failed request', async () => {
  const { sizes, found } = await readWith(400, (_, request) => (request === 1 ? { status: 504 } : undefined))
  expect(found).toBe(400)
  expect(sizes.slice(0, 3)).toEqual([100, 50, 100])
})

test('a fixed limit causes few failed requests', async () => {
  const { sizes, found } = await readWith(10_000, heavy(413, 50))
  expect(found).toBe(10_000)
  expect(sizes.filter((size) => size > 50).length).toBeLessThanOrEqual(6)
})

test('reading fails with the status of a service that refuses even the smallest page', async () => {
  const { sizes, error } = await readWith(5, () => ({ status: 413 }))
  expect(sizes).toEqual([100, 50, 25, 10])
  expect(error).toEqual(
    expect.objectContaining({
      code: 'REQUEST_REFUSED',
      status: 413,
      message: expect.stringContaining('413, even for a page of 10 items'),
      fix: expect.stringContaining('gateway'),
    }),
  )
})

test.for([
  ['a timeout', new ExportError('SERVICE_UNAVAILABLE', 'late', { cause: new TimeoutError('late') })],
  ['a body above the limit', bodyTooLarge(1_000)],
] as const)('pages become smaller after %s', async ([, error]) => {
  const { sizes, found } = await readWith(80, ({ size }) => {
    if (size > 50) throw error
    return undefined
  })
  expect(sizes.slice(0, 2)).toEqual([100, 50])
  expect(found).toBe(80)
})

test.for([400, 403, 500, 503])('pages keep their size after %i', async (status) => {
  const { sizes } = await readWith(5, (_, request) => (request === 1 ? { status } : undefined))
  expect(new Set(sizes)).toEqual(new Set([100]))
})

test('a limit that one listing has found is used by the others, until a larger page arrives', () => {
  const shared = newSharedPageLimit()
  const error = (status: number) => new ExportError('REQUEST_REFUSED', 'too large', { status })
  const first = createAdaptivePageSize(shared)
  first.recordFailure(100, error(504))
  expect(createAdaptivePageSize(shared).current()).toBe(100)
  first.recordFailure(50, error(413))
  const second = createAdaptivePageSize(shared)
  expect([first.current(), second.current(), second.smallest()]).toEqual([25, 25, 100])
  for (let page = 0; page < 7; page += 1) second.recordSuccess()
  expect([second.current(), second.smallest()]).toEqual([25, 25])
  second.recordSuccess()
  expect(second.current()).toBe(50)
  // Every eighth new listing tries a larger size.
  const sizes = Array.from({ length: 7 }, () => createAdaptivePageSize(shared).current())
  expect(sizes).toEqual([25, 25, 25, 25, 25, 25, 50])
  second.recordSuccess()
  expect(createAdaptivePageSize(shared).current()).toBe(50)
})

test('concurrent failures of one size shrink the pages once', () => {
  const size = createAdaptivePageSize()
  const error = new ExportError('SERVICE_UNAVAILABLE', 'late', { status: 504 })
  expect([size.recordFailure(100, error), size.recordFailure(100, error), size.current()]).toEqual([
    true,
    true,
    50,
  ])
  expect([
    size.recordFailure(50, error),
    size.recordFailure(25, error),
    size.recordFailure(10, error),
  ]).toEqual([true, true, false])
  expect([size.current(), size.smallest()]).toEqual([10, 100])
  size.recordSuccess()
  expect([size.current(), size.smallest()]).toEqual([25, 10])
})
