import { expect, test } from 'vitest'
import { readAtomicChain } from '../../../../src/sources/data-api/pages/read-atomic-chain.ts'
import { type RangeSpec, readRange } from '../../../../src/sources/data-api/pages/read-range.ts'
import type { RangePage } from '../../../../src/sources/source.ts'
import { fakeRequester, type Query, type Reply } from './fake-requester.ts'

const request: RangeSpec = {
  chain: '43114',
  address: '0xaa',
  range: { from: 100, to: 200 },
  order: 'asc',
  cutoffMs: Number.POSITIVE_INFINITY,
}

const entry = (block: number, given: object = {}) => {
  return {
    txHash: `T${block}`,
    blockHeight: block,
    timestamp: 1_700_000_000 + block,
    txType: 'ImportTx',
    ...given,
  }
}

const page = (blocks: readonly number[], next?: string, given: object = {}): Reply => {
  const transactions = blocks.map((block) => entry(block))
  return { body: Buffer.from(JSON.stringify({ transactions, nextPageToken: next, ...given })) }
}

async function read(reply: (query: Query) => Reply, given: Partial<RangeSpec> = {}) {
  const { requestContext, received } = fakeRequester(reply)
  const pages: RangePage[] = []
  let error: unknown
  try {
    for await (const one of readRange(requestContext, { ...request, ...given }, readAtomicChain))
      pages.push(one)
  } catch (thrown) {
    error = thrown
  }
  return {
    received: received.map(({ order, token, size }) => [order, token, size]),
    blocks: pages.map(({ keys }) => keys.map(({ block }) => block)),
    covered: pages.map(({ covered: { from, to } }) => [from, to]),
    error,
  }
}

const PAGES: Readonly<Record<string, readonly number[]>> = {
  first: [10, 60],
  second: [90, 120],
  third: [150, 180],
  fourth: [230, 300],
  fifth: [400],
}
const NAMES = Object.keys(PAGES)

/** A listing of five pages, in the requested order. */
const listing = ({ order, token = '0' }: Query): Reply => {
  const names = order === 'asc' ? NAMES : NAMES.toReversed()
  const blocks = [...(PAGES[names[Number(token)] ?? ''] ?? [])]
  const next = Number(token) + 1
  return page(order === 'asc' ? blocks : blocks.reverse(), next < names.length ? String(next) : undefined)
}

test('reads from the oldest entry to the end of the range, and keeps the entries inside', async () => {
  const { received, blocks, covered, error } = await read(listing)
  expect([error, received.length, blocks]).toEqual([undefined, 4, [[120], [150, 180], []]])
  // More entries may follow in the second in which a page ends, so its block is not covered yet.
  expect(covered).toEqual([
    [100, 100],
    [100, 151],
    [151, 200],
  ])
})

test('reads an open range from the newest entry back to its start', async () => {
  const { received, blocks, covered } = await read(listing, {
    range: { from: 170, to: 1_000 },
    order: 'desc',
  })
  expect(received.map(([order]) => order)).toEqual(['desc', 'desc', 'desc', 'desc'])
  expect(blocks).toEqual([[400], [300, 230], [180], []])
  expect([covered[0]?.[1], covered.at(-1)?.[0]]).toEqual([1_000, 170])
})

test('covers the whole range whatever its bounds and the order', async () => {
  for (const order of ['asc', 'desc'] as const)
    for (let from = 0; from <= 410; from += 37)
      for (let to = from + 1; to <= 450; to += 53) {
        const { blocks, covered, error } = await read(listing, { range: { from, to }, order })
        const inside = Object.values(PAGES)
          .flat()
          .filter((block) => block >= from && block < to)
        expect([error, blocks.flat().sort((a, b) => a - b)]).toEqual([undefined, inside])
        const sorted = covered.toSorted((a, b) => (a[0] ?? 0) - (b[0] ?? 0))
        expect([sorted[0]?.[0], sorted.at(-1)?.[1]]).toEqual([from, to])
        for (const [at, [start]] of sorted.entries()) if (at > 0) expect(start).toBe(sorted[at - 1]?.[1])
      }
})

const malformed = (message: RegExp) =>
  expect.objectContaining({ code: 'PAGE_MALFORMED', message: expect.stringMatching(message) })

test.for([
  {
    name: 'a token that is repeated',
    reply: () => page([110, 120], 'same'),
    says: /repeats or refuses its own page tokens/,
  },
  {
    name: 'new tokens without new entries',
    reply: ({ token = '' }: Query) => page([], `${token}x`),
    says: /nothing new/,
  },
  { name: 'the wrong order', reply: () => page([120, 110], 'a'), says: /not sorted asc/ },
  {
    name: 'another network',
    reply: () => page([110], undefined, { chainInfo: { network: 'fuji' } }),
    says: /network is "fuji"/,
  },
  {
    name: 'another chain',
    reply: () => page([110], undefined, { chainInfo: { chainName: 'p-chain' } }),
    says: /"p-chain"/,
  },
  {
    name: 'no list',
    reply: () => page([], undefined, { transactions: null }),
    says: /no list of transactions/,
  },
  {
    name: 'too many entries',
    reply: () => page(Array.from({ length: 10_001 }, () => 110)),
    says: /10001 items, more than the limit/,
  },
])('ends with an error on $name', async ({ reply, says }) => {
  expect((await read(reply)).error).toEqual(malformed(says))
})

test('starts over when a token expires, without reading covered blocks twice', async () => {
  let refusals = 1
  const { blocks, error } = await read((query) => {
    if (query.token !== '2' || refusals === 0) return listing(query)
    refusals -= 1
    return { status: 400, body: Buffer.from('{"message":"expired","statusCode":400}') }
  })
  expect([error, [...new Set(blocks.flat())]]).toEqual([undefined, [120, 150, 180]])
})

test('entries without a position are kept, to be rejected', async () => {
  const { requestContext } = fakeRequester(() => ({
    body: Buffer.from(JSON.stringify({ transactions: [entry(110), entry(-1), entry(500)] })),
  }))
  for await (const one of readRange(requestContext, request, readAtomicChain))
    expect([one.items, one.bad, JSON.parse(one.body.toString()).transactions]).toEqual([
      2,
      1,
      [entry(110), entry(-1)],
    ])
})
