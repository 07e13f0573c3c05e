import { expect, test } from 'vitest'
import { type Break, breakWhere, changed, type Listing, says } from '../helpers/faults.ts'
import { addresses, calmRun, faultyRun, withWhale } from '../helpers/faulty-run.ts'
import type { Asked, Fault } from '../helpers/loopback.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { reask } from '../helpers/request-again.ts'

const hasToken = ({ query }: Pick<Asked, 'query'>) => query.has('pageToken')
const refused = says(400, '{"message":"page token expired","statusCode":400,"error":"Bad Request"}')

/** Runs to the end, which must be the calm one's, and gives the requests beyond the calm run's. */
async function extraRequests(fault: Fault): Promise<number> {
  const calm = await calmRun()
  const { code, output, asked, message } = await faultyRun(fault)
  expect(message).toBe('')
  expect(code).toBeUndefined()
  expect(outputBytes(output)).toEqual(calm.bytes)
  return asked.length - calm.requests
}

test('costs at most one page again when a token expires', async () => {
  let expired = 0
  const once = (asked: Asked) => hasToken(asked) && ++expired === 4
  expect(await extraRequests(breakWhere(once, refused))).toBeLessThanOrEqual(2)
  expect(expired).toBeGreaterThan(4)
})

test.for([400, 404])('loses nothing when every token is refused once with %i', async (status) => {
  const { requests } = await calmRun()
  const met = new Set<string>()
  const first = ({ path, query }: Asked) => hasToken({ query }) && met.size < met.add(`${path}?${query}`).size
  const fault = breakWhere(first, says(status, '{"message":["no such token"]}'))
  expect(await extraRequests(fault)).toBeLessThanOrEqual(2 * requests)
  expect(met.size).toBeGreaterThan(5)
})

const whole = changed((page) => page)

/** Says the token that was asked for as the next one. */
const echo = changed((page, { query }) => ({
  ...page,
  nextPageToken: page.nextPageToken && query.get('pageToken'),
}))

test('loses nothing when one page repeats its own token', async () => {
  let seen = 0
  expect(
    await extraRequests(breakWhere((asked) => hasToken(asked) && ++seen === 3, echo)),
  ).toBeLessThanOrEqual(1)
  expect(seen).toBeGreaterThan(3)
})

test('loses nothing when every page repeats its own token', async () => {
  expect(await extraRequests(breakWhere(hasToken, echo))).toBeLessThanOrEqual(4)
})

const smaller: Break = async (response, _answer, asked) => {
  const { status, headers, body } = await reask(asked, { pageSize: '7' })
  response.writeHead(status, headers).end(body)
}

test('loses nothing when pages are smaller than asked', async () => {
  expect(await extraRequests(breakWhere(() => true, smaller))).toBeGreaterThan(50)
})

const EMPTY_TOKEN = 'nothing-here'
const emptyFirst: Break = async (response, answer, asked) => {
  const before = asked.query.get('pageToken')
  const { body } = before === EMPTY_TOKEN ? await reask(asked, { pageToken: undefined }) : answer
  const empty = JSON.stringify({ transactions: [], nextPageToken: EMPTY_TOKEN })
  response.writeHead(200).end(before === null ? empty : body)
}

test('goes on past an empty page that has a token', async () => {
  const extra = await extraRequests(breakWhere(() => true, emptyFirst))
  // One for each wallet, and one for each range that the last blocks are requested in.
  expect(extra).toBeGreaterThanOrEqual(addresses.length)
  expect(extra).toBeLessThanOrEqual(3 * addresses.length)
})

test.for([1, 2, 30])('keeps items that both sides of a page border list once, %i of them', async (count) => {
  const calm = await calmRun()
  const last = new Map<string, Listing['transactions']>()
  const overlap = changed((page, asked) => {
    const { path } = asked
    const transactions = hasToken(asked)
      ? [...(last.get(path) ?? []), ...page.transactions]
      : page.transactions
    last.set(path, page.transactions.slice(-count))
    return { ...page, transactions }
  })
  // Whether the second at the border was told whole is not known: it is read again, by its blocks.
  expect(await extraRequests(breakWhere(() => true, overlap))).toBeLessThanOrEqual(calm.requests / 2)
})

test.for<{ what: string; broken: Break }>([
  {
    what: 'every token is refused and a block needs two pages',
    broken: (response, answer, asked) => (hasToken(asked) ? refused : whole)(response, answer, asked),
  },
  {
    what: 'the last page repeats the token of all',
    broken: changed((page) => ({ ...page, nextPageToken: 'again' })),
  },
  {
    what: 'the service forgets which page was asked',
    broken: async (response, _answer, asked) => {
      const { body } = await reask(asked, { pageToken: undefined })
      response.writeHead(200).end(body)
    },
  },
  {
    what: 'the first two pages are swapped',
    broken: async (response, answer, asked) => {
      const first = (await reask(asked, { pageToken: undefined })).body
      const { nextPageToken } = JSON.parse(first) as { nextPageToken?: string }
      const swapped = hasToken(asked) ? first : (await reask(asked, { pageToken: nextPageToken })).body
      response.writeHead(200).end(nextPageToken === undefined ? answer.body : swapped)
    },
  },
])('ends as malformed and stays resumable when $what', async ({ broken }) => {
  const wallets = withWhale
  const { code, output, message } = await faultyRun(
    breakWhere(() => true, broken),
    { wallets },
  )
  expect(code).toBe('PAGE_MALFORMED')
  expect(message).not.toContain('pageToken')
  await faultyRun(undefined, { output, wallets })
  expect(outputBytes(output)).toEqual(outputBytes((await faultyRun(undefined, { wallets })).output))
})
