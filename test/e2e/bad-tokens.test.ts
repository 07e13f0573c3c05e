import { expect, test } from 'vitest'
import {
  type FaultyResponse,
  faultWhere,
  type Listing,
  respondWith,
  withChangedPage,
} from '../helpers/faults.ts'
import { addresses, baselineRun, faultyRun, withLargeWallet } from '../helpers/faulty-run.ts'
import type { Fault, ReceivedRequest } from '../helpers/loopback.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { requestAgain } from '../helpers/request-again.ts'

const hasToken = ({ query }: Pick<ReceivedRequest, 'query'>) => query.has('pageToken')
const refused = respondWith(400, '{"message":"page token expired","statusCode":400,"error":"Bad Request"}')

/** Runs to the end, which must be the calm one's, and gives the requests beyond the calm run's. */
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
  const once = (asked: ReceivedRequest) => hasToken(asked) && ++expired === 4
  expect(await extraRequests(faultWhere(once, refused))).toBeLessThanOrEqual(2)
  expect(expired).toBeGreaterThan(4)
})

test.for([400, 404])('loses nothing when every token is refused once with %i', async (status) => {
  const { requests } = await baselineRun()
  const met = new Set<string>()
  const first = ({ path, query }: ReceivedRequest) =>
    hasToken({ query }) && met.size < met.add(`${path}?${query}`).size
  const fault = faultWhere(first, respondWith(status, '{"message":["no such token"]}'))
  expect(await extraRequests(fault)).toBeLessThanOrEqual(2 * requests)
  expect(met.size).toBeGreaterThan(5)
})

const whole = withChangedPage((page) => page)

/** Says the token that was asked for as the next one. */
const echo = withChangedPage((page, { query }) => ({
  ...page,
  nextPageToken: page.nextPageToken && query.get('pageToken'),
}))

test('loses nothing when one page repeats its own token', async () => {
  let seen = 0
  expect(
    await extraRequests(faultWhere((asked) => hasToken(asked) && ++seen === 3, echo)),
  ).toBeLessThanOrEqual(1)
  expect(seen).toBeGreaterThan(3)
})

test('loses nothing when every page repeats its own token', async () => {
  expect(await extraRequests(faultWhere(hasToken, echo))).toBeLessThanOrEqual(4)
})

const smaller: FaultyResponse = async (response, _answer, asked) => {
  const { status, headers, body } = await requestAgain(asked, { pageSize: '7' })
  response.writeHead(status, headers).end(body)
}

test('loses nothing when pages are smaller than asked', async () => {
  expect(await extraRequests(faultWhere(() => true, smaller))).toBeGreaterThan(50)
})

const EMPTY_TOKEN = 'nothing-here'
const emptyFirst: FaultyResponse = async (response, answer, asked) => {
  const before = asked.query.get('pageToken')
  const { body } = before === EMPTY_TOKEN ? await requestAgain(asked, { pageToken: undefined }) : answer
  const empty = JSON.stringify({ transactions: [], nextPageToken: EMPTY_TOKEN })
  response.writeHead(200).end(before === null ? empty : body)
}

test('goes on past an empty page that has a token', async () => {
  const extra = await extraRequests(faultWhere(() => true, emptyFirst))
  // One for each wallet, and one for each range that the last blocks are requested in.
  expect(extra).toBeGreaterThanOrEqual(addresses.length)
  expect(extra).toBeLessThanOrEqual(3 * addresses.length)
})

test.for([1, 2, 30])('keeps items that both sides of a page border list once, %i of them', async (count) => {
  const calm = await baselineRun()
  const last = new Map<string, Listing['transactions']>()
  const overlap = withChangedPage((page, asked) => {
    const { path } = asked
    const transactions = hasToken(asked)
      ? [...(last.get(path) ?? []), ...page.transactions]
      : page.transactions
    last.set(path, page.transactions.slice(-count))
    return { ...page, transactions }
  })
  // Whether the second at the border was told whole is not known: it is read again, by its blocks.
  expect(await extraRequests(faultWhere(() => true, overlap))).toBeLessThanOrEqual(calm.requests / 2)
})

test.for<{ what: string; broken: FaultyResponse }>([
  {
    what: 'every token is refused and a block needs two pages',
    broken: (response, answer, asked) => (hasToken(asked) ? refused : whole)(response, answer, asked),
  },
  {
    what: 'the last page repeats the token of all',
    broken: withChangedPage((page) => ({ ...page, nextPageToken: 'again' })),
  },
  {
    what: 'the service forgets which page was asked',
    broken: async (response, _answer, asked) => {
      const { body } = await requestAgain(asked, { pageToken: undefined })
      response.writeHead(200).end(body)
    },
  },
  {
    what: 'the first two pages are swapped',
    broken: async (response, answer, asked) => {
      const first = (await requestAgain(asked, { pageToken: undefined })).body
      const { nextPageToken } = JSON.parse(first) as { nextPageToken?: string }
      const swapped = hasToken(asked) ? first : (await requestAgain(asked, { pageToken: nextPageToken })).body
      response.writeHead(200).end(nextPageToken === undefined ? answer.body : swapped)
    },
  },
])('ends as malformed and stays resumable when $what', async ({ broken }) => {
  const wallets = withLargeWallet
  const { code, output, message } = await faultyRun(
    faultWhere(() => true, broken),
    { wallets },
  )
  expect(code).toBe('PAGE_MALFORMED')
  expect(message).not.toContain('pageToken')
  await faultyRun(undefined, { output, wallets })
  expect(outputBytes(output)).toEqual(outputBytes((await faultyRun(undefined, { wallets })).output))
})
