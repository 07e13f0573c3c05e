import { expect, test } from 'vitest'
import {
  type FaultyResponse,
  faultWhere,
  type Listing,
  respondWith,
  withChangedPage,
} from '../helpers/faults.ts'
import { addresses, baselineRun, faultyRun, withLargeBlock } from '../helpers/faulty-run.ts'
import type { Fault, ReceivedRequest } from '../helpers/loopback.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { requestAgain } from '../helpers/request-again.ts'
import { testSample } from '../helpers/test-sample.ts'

const hasToken = ({ query }: Pick<ReceivedRequest, 'query'>) => query.has('pageToken')
const refused = respondWith(400, '{"message":"page token expired","statusCode":400,"error":"Bad Request"}')

/** Runs to the end, expects the files of an undisturbed run, and returns the number of additional requests. */
async function extraRequests(fault: Fault): Promise<number> {
  const calm = await baselineRun()
  const { code, output, requests, message } = await faultyRun(fault)
  expect(message).toBe('')
  expect(code).toBeUndefined()
  expect(outputBytes(output)).toEqual(calm.bytes)
  return requests.length - calm.requests
}

test('costs at most one page again when a token expires', async () => {
  let expired = 0
  const once = (request: ReceivedRequest) => hasToken(request) && ++expired === 2
  expect(await extraRequests(faultWhere(once, refused))).toBeLessThanOrEqual(2)
  expect(expired).toBeGreaterThan(2)
})

testSample(1, [400, 404], 'loses nothing if every token is refused once with %i', async (status) => {
  const { requests } = await baselineRun()
  const met = new Set<string>()
  const first = ({ path, query }: ReceivedRequest) =>
    hasToken({ query }) && met.size < met.add(`${path}?${query}`).size
  const fault = faultWhere(first, respondWith(status, '{"message":["no such token"]}'))
  expect(await extraRequests(fault)).toBeLessThanOrEqual(2 * requests)
  expect(met.size).toBeGreaterThan(3)
})

const whole = withChangedPage((page) => page)

/** Returns the requested token as the next one. */
const echo = withChangedPage((page, { query }) => ({
  ...page,
  nextPageToken: page.nextPageToken && query.get('pageToken'),
}))

test('loses nothing if one page repeats its own token', async () => {
  let seen = 0
  expect(
    await extraRequests(faultWhere((request) => hasToken(request) && ++seen === 2, echo)),
  ).toBeLessThanOrEqual(1)
  expect(seen).toBeGreaterThan(2)
})

test('loses nothing if every page repeats its own token', async () => {
  expect(await extraRequests(faultWhere(hasToken, echo))).toBeLessThanOrEqual(4)
})

const smaller: FaultyResponse = async (response, _answer, request) => {
  const { status, headers, body } = await requestAgain(request, { pageSize: '7' })
  response.writeHead(status, headers).end(body)
}

test('loses nothing if pages are smaller than requested', async () => {
  expect(await extraRequests(faultWhere(() => true, smaller))).toBeGreaterThan(50)
})

const EMPTY_TOKEN = 'nothing-here'
const emptyFirst: FaultyResponse = async (response, answer, request) => {
  const before = request.query.get('pageToken')
  const { body } = before === EMPTY_TOKEN ? await requestAgain(request, { pageToken: undefined }) : answer
  const empty = JSON.stringify({ transactions: [], nextPageToken: EMPTY_TOKEN })
  response.writeHead(200).end(before === null ? empty : body)
}

test('continues after an empty page with a token', async () => {
  const extra = await extraRequests(faultWhere(() => true, emptyFirst))
  // One for each wallet, and one for each range in which the last blocks are requested.
  expect(extra).toBeGreaterThanOrEqual(addresses.length)
  expect(extra).toBeLessThanOrEqual(3 * addresses.length)
})

testSample(1, [30, 1, 2], 'exports %i items once that both sides of a page boundary list', async (count) => {
  const calm = await baselineRun()
  const last = new Map<string, Listing['transactions']>()
  const overlap = withChangedPage((page, request) => {
    const { path } = request
    const transactions = hasToken(request)
      ? [...(last.get(path) ?? []), ...page.transactions]
      : page.transactions
    last.set(path, page.transactions.slice(-count))
    return { ...page, transactions }
  })
  // The listing of the second at the boundary may be incomplete, so its blocks are read again.
  expect(await extraRequests(faultWhere(() => true, overlap))).toBeLessThanOrEqual(calm.requests / 2)
})

testSample<{ what: string; broken: FaultyResponse; blocks?: readonly [number, number] }>(
  2,
  [
    {
      what: 'every token is refused and a block needs two pages',
      broken: (response, answer, request) => (hasToken(request) ? refused : whole)(response, answer, request),
    },
    {
      what: 'the last page repeats the token of all',
      broken: withChangedPage((page) => ({ ...page, nextPageToken: 'again' })),
    },
    {
      what: 'the service ignores the page token',
      broken: async (response, _answer, request) => {
        const { body } = await requestAgain(request, { pageToken: undefined })
        response.writeHead(200).end(body)
      },
    },
    {
      what: 'the first two pages are swapped',
      blocks: [100, 300],
      broken: async (response, answer, request) => {
        const first = (await requestAgain(request, { pageToken: undefined })).body
        const { nextPageToken } = JSON.parse(first) as { nextPageToken?: string }
        const swapped = hasToken(request)
          ? first
          : (await requestAgain(request, { pageToken: nextPageToken })).body
        response.writeHead(200).end(nextPageToken === undefined ? answer.body : swapped)
      },
    },
  ],
  'ends as malformed and remains resumable if $what',
  async ({ broken, blocks = [200, 260] }) => {
    const given = { wallets: withLargeBlock, blocks }
    const { code, output, message } = await faultyRun(
      faultWhere(() => true, broken),
      given,
    )
    expect(code).toBe('PAGE_MALFORMED')
    expect(message).not.toContain('pageToken')
    await faultyRun(undefined, { output, ...given })
    expect(outputBytes(output)).toEqual(outputBytes((await faultyRun(undefined, given)).output))
  },
)
