import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ExportError } from '../../../../src/core/model/errors.ts'
import { type BlockRange, NO_END } from '../../../../src/core/model/model.ts'
import { readRecords } from '../../../../src/sources/explorer-api/answer.ts'
import { blockscout, etherscan } from '../../../../src/sources/explorer-api/explorer-api.ts'
import { createBlockSpan } from '../../../../src/sources/explorer-api/window-size.ts'
import type { RangePage, RangeRequest } from '../../../../src/sources/source.ts'
import { testSample } from '../../../helpers/test-sample.ts'
import {
  type FakeListings,
  type FakeQuery,
  type FakeRecord,
  fakeExplorer,
  recordAt,
  WALLET,
} from '../fake-explorer.ts'

const ACTIONS = ['txlist', 'txlistinternal', 'tokentx', 'tokennfttx', 'token1155tx'] as const
const wallet = { chain: '1', address: WALLET }

async function readAll(
  explorer: ReturnType<typeof fakeExplorer>,
  request: Partial<RangeRequest> = {},
  source = etherscan,
): Promise<RangePage[]> {
  const pages: RangePage[] = []
  const spec = {
    range: { from: 0, to: NO_END },
    order: 'asc',
    cutoffMs: Number.POSITIVE_INFINITY,
    ...request,
  } as const
  for await (const page of source.openWallet(wallet).readRange(explorer.requestContext, spec))
    pages.push(page)
  return pages
}

/** The names of all records in pages, with their listing, sorted. */
const recordsIn = (pages: readonly RangePage[]) =>
  pages
    .flatMap(({ body }) => JSON.parse(body.toString('utf8')).items)
    .flatMap(({ normal, internal, erc20, erc721, erc1155 }) =>
      [normal === null ? [] : [normal], internal, erc20, erc721, erc1155].flatMap((records, at) =>
        records.map(({ name }: { name: string }) => `${ACTIONS[at]} ${name}`),
      ),
    )
    .sort()

const namesIn = (listings: FakeListings) =>
  Object.entries(listings)
    .flatMap(([action, records]) => records.map(({ name }) => `${action} ${name}`))
    .sort()

/** Listings with a number of records in each block; records of the same block share transactions. */
function listingsOf(counts: readonly (readonly number[])[]): FakeListings {
  const listings: Record<string, ReturnType<typeof recordAt>[]> = {}
  counts.forEach((perBlock, at) => {
    listings[ACTIONS[at] ?? ''] = perBlock.flatMap((count, block) =>
      Array.from({ length: count }, (_, index) =>
        recordAt(block, `${block}f${index}`, { name: `${block} ${index}` }),
      ),
    )
  })
  return listings
}

testSample(
  1,
  [10, 25],
  'every record is in exactly one page, whatever the history, the window and the order: %i runs',
  async (numRuns) => {
    const history = fc.array(fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 5 }), {
      minLength: 5,
      maxLength: 5,
    })
    await fc.assert(
      fc.asyncProperty(history, fc.constantFrom('asc', 'desc'), async (counts, order) => {
        const listings = listingsOf(counts)
        const pages = await readAll(fakeExplorer(listings, { maxRecords: 1_000 }), { order })
        expect(recordsIn(pages)).toEqual(namesIn(listings))
        expect(coverageOf(pages, order)).toEqual({ from: 0, to: NO_END })
      }),
      { numRuns },
    )
  },
)

/** The blocks of pages that continue each other. */
function coverageOf(pages: readonly RangePage[], order: 'asc' | 'desc'): BlockRange {
  const ascending = order === 'asc' ? pages : pages.toReversed()
  for (const [at, { covered }] of ascending.entries())
    if (at > 0) expect(covered.from).toBe(ascending[at - 1]?.covered.to)
  return { from: ascending[0]?.covered.from ?? -1, to: ascending.at(-1)?.covered.to ?? -1 }
}

test('an item contains the records of its transaction in all listings', async () => {
  const records = { txlist: [recordAt(5, 'aa')], tokentx: [recordAt(5, 'aa'), recordAt(5, 'aa')] }
  const [page] = await readAll(fakeExplorer({ ...records, tokennfttx: [recordAt(7, 'bb')] }))
  expect(JSON.parse(String(page?.body))).toMatchObject({
    items: [
      { hash: '0xaa', normal: records.txlist[0], erc20: records.tokentx, internal: [] },
      { hash: '0xbb', normal: null, erc721: [{ blockNumber: '7' }] },
    ],
  })
  expect(page?.keys.map(({ block }) => block)).toEqual([5, 7])
})

test('a wallet with few records takes one request per listing', async () => {
  const { received, ...explorer } = fakeExplorer({ txlist: [recordAt(1, 'aa')] })
  await readAll({ received, ...explorer })
  expect(received.map(({ action }) => action).sort()).toEqual([...ACTIONS].sort())
})

test('a listing is requested again only from its last block on', async () => {
  const txlist = Array.from({ length: 25_000 }, (_, block) =>
    recordAt(block, `${block}`, { name: `${block}` }),
  )
  const explorer = fakeExplorer({ txlist, tokentx: txlist.slice(0, 99) })
  expect(recordsIn(await readAll(explorer))).toHaveLength(25_099)
  const requests = explorer.received.map(({ action, from }) => `${action} ${from}`)
  expect(requests.slice(5)).toEqual(['txlist 9999', 'txlist 19998'])
})

test('a block that fills the answer alone is read by page number', async () => {
  const listings = listingsOf([[3], [], [3, 2_345, 2], [1_000]])
  for (const order of ['asc', 'desc'] as const) {
    const pages = await readAll(fakeExplorer(listings, { maxRecords: 1_000 }), { order })
    expect(recordsIn(pages)).toEqual(namesIn(listings))
  }
})

test.for([500, 1_000, 2_500])(
  'answers with at most %i records are not taken as complete',
  async (maxRecords) => {
    const listings = listingsOf([Array.from({ length: 6_000 }, () => 1)])
    const explorer = fakeExplorer(listings, { maxRecords })
    expect(recordsIn(await readAll(explorer))).toEqual(namesIn(listings))
  },
)

testSample(
  2,
  [10, 40].flatMap((numRuns) => (['asc', 'desc'] as const).map((order) => ({ numRuns, order }))),
  'every record is read, $order, although the explorer lowers the records per answer between requests: $numRuns runs',
  async ({ numRuns, order }) => {
    const caps = fc.array(fc.constantFrom(10_000, 5_000, 1_000, 500, 100), { minLength: 1, maxLength: 12 })
    const perBlock = fc.array(fc.integer({ min: 0, max: 1_500 }), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(perBlock, caps, async (counts, limits) => {
        const listings = listingsOf([counts, counts.map((count) => count % 7)])
        const lowered = limits.toSorted((a, b) => b - a)
        const explorer = fakeExplorer(listings, {
          maxRecords: (request) => lowered[Math.min(Math.floor(request / 3), lowered.length - 1)] ?? 100,
        })
        expect(recordsIn(await readAll(explorer, { order }))).toEqual(namesIn(listings))
      }),
      {
        numRuns,
        examples: [
          [
            [500, 1_500],
            [10_000, 1_000],
          ],
        ],
      },
    )
  },
)

test('a list of a round length is taken as complete after one more request', async () => {
  const listings = listingsOf([Array.from({ length: 1_000 }, () => 1)])
  const explorer = fakeExplorer(listings)
  expect(recordsIn(await readAll(explorer))).toHaveLength(1_000)
  expect(explorer.received.length).toBe(ACTIONS.length + 1)
})

test('a block with more records than the service lists ends with an error that names it', async () => {
  const listings = listingsOf([[], [], [3, 10_001, 2]])
  const reading = readAll(fakeExplorer(listings))
  await expect(reading).rejects.toMatchObject({
    code: 'REQUEST_REFUSED',
    message: `tokentx of wallet ${WALLET}: block 1 has more records than the service lists`,
  })
})

test('a service that ignores the page number ends with the same error', async () => {
  const listings = listingsOf([[], [], [1_500]])
  const override = ({ action, page }: FakeQuery) =>
    action === 'tokentx' && page > 1
      ? { body: { status: '1', message: 'OK', result: listings.tokentx?.slice(0, 1_000) } }
      : undefined
  const explorer = fakeExplorer(listings, { maxRecords: 1_000, override })
  await expect(readAll(explorer)).rejects.toMatchObject({ message: expect.stringContaining('block 0') })
})

/** Answers with the refusal of a query that took too long. */
const TIMEOUT = {
  body: {
    status: '0',
    message: 'Query Timeout occured. Please select a smaller result dataset',
    result: null,
  },
}

test.for([
  { reason: 'a query timeout', reply: TIMEOUT },
  { reason: 'a bad gateway', reply: { status: 502, body: '' } },
])('reading goes on in smaller windows after $reason', async ({ reply }) => {
  const txlist = Array.from({ length: 1_500 }, (_, block) =>
    recordAt(block, `${block}`, { name: `${block}` }),
  )
  const explorer = fakeExplorer(
    { txlist },
    { override: ({ action, offset }) => (action === 'txlist' && offset > 1_000 ? reply : undefined) },
  )
  expect(recordsIn(await readAll(explorer))).toHaveLength(1_500)
})

test('reading goes on with fewer blocks if smaller windows time out as well', async () => {
  const listings = listingsOf([Array.from({ length: 3_000 }, () => 1)])
  const override = ({ action, from, to }: FakeQuery) => {
    if (action === 'eth_blockNumber') return { body: { jsonrpc: '2.0', id: 1, result: '0xbb7' } }
    return action === 'txlist' && Math.min(to, 2_999) - from > 400 ? TIMEOUT : undefined
  }
  for (const [order, to] of [
    ['asc', 3_000],
    ['desc', NO_END],
  ] as const) {
    const explorer = fakeExplorer(listings, { override })
    expect(recordsIn(await readAll(explorer, { order, range: { from: 0, to } }))).toEqual(namesIn(listings))
    expect(explorer.received.length).toBeLessThan(70)
  }
})

test('smaller windows are used for a block that has more records than one of them', async () => {
  const listings = listingsOf([[], [], [300, 300]])
  const tooLarge = { status: 413, body: 'too large' }
  const override = ({ action, offset }: FakeQuery) =>
    action === 'tokentx' && offset > 100 ? tooLarge : undefined
  const explorer = fakeExplorer(listings, { override })
  expect(recordsIn(await readAll(explorer))).toEqual(namesIn(listings))
})

const UNPROCESSED = {
  status: '2',
  message: 'Some internal transactions within this block range have not yet been processed',
  result: [],
}

test('the newest blocks are left out if the explorer has not processed them', async () => {
  const listings = listingsOf([Array.from({ length: 300 }, () => 1), Array.from({ length: 300 }, () => 1)])
  const override = ({ action, to }: FakeQuery) => {
    if (action === 'eth_block_number') return { body: { jsonrpc: '2.0', id: 1, result: '0x12b' } }
    return action === 'txlistinternal' && to > 250 ? { body: UNPROCESSED } : undefined
  }
  const pages = await readAll(fakeExplorer(listings, { override }), { order: 'desc' }, blockscout)
  expect(coverageOf(pages, 'desc')).toEqual({ from: 0, to: 299 + 1 - 128 })
  expect(recordsIn(pages)).toHaveLength(2 * (299 + 1 - 128))
})

describe('blocks that the explorer never processes', () => {
  // Not a round number, so that one answer is complete.
  const listings = listingsOf([Array.from({ length: 299 }, () => 1), Array.from({ length: 299 }, () => 1)])
  const explorerWithout = (...never: readonly (readonly [number, number])[]) =>
    fakeExplorer(listings, {
      override: ({ action, from, to }) => {
        if (action === 'eth_block_number') return { body: { jsonrpc: '2.0', id: 1, result: '0x12b' } }
        const isIncomplete = never.some(([first, last]) => from <= last && to >= first)
        return action === 'txlistinternal' && isIncomplete ? { body: UNPROCESSED } : undefined
      },
    })

  test.for(['asc', 'desc'] as const)('are gaps of the pages, %s, and all others are read', async (order) => {
    for (const to of [300, NO_END]) {
      const explorer = explorerWithout([70, 70], [200, 202])
      const pages = await readAll(explorer, { order, range: { from: 0, to } }, blockscout)
      const missing = [70, 200, 201, 202].map((block) => `txlistinternal ${block} 0`)
      expect(recordsIn(pages)).toEqual(namesIn(listings).filter((name) => !missing.includes(name)))
      expect(coverageOf(pages, order)).toEqual({ from: 0, to })
      const gaps = pages.flatMap((page) => page.gaps ?? []).sort((a, b) => a.from - b.from)
      expect(gaps.map(({ listing, from, to: end }) => `${listing} ${from} ${end}`)).toEqual([
        'txlistinternal 70 71',
        'txlistinternal 200 203',
      ])
      expect(gaps[0]?.reason).toContain('not yet been processed')
    }
  })

  test('are found once for all wallets of a service', async () => {
    const explorer = explorerWithout([70, 70])
    const request = { range: { from: 0, to: 300 } }
    await readAll(explorer, request, blockscout)
    const before = explorer.received.length
    const pages = await readAll(explorer, request, blockscout)
    expect(pages.flatMap((page) => page.gaps ?? [])).toHaveLength(1)
    expect(explorer.received.length - before).toBe(7)
  })

  test('are one gap up to the end if there are no others', async () => {
    const explorer = explorerWithout([0, Number.MAX_SAFE_INTEGER])
    const pages = await readAll(explorer, { order: 'desc' }, blockscout)
    expect(recordsIn(pages)).toHaveLength(299)
    expect(pages.flatMap((page) => page.gaps ?? [])).toEqual([
      expect.objectContaining({ listing: 'txlistinternal', from: 0, to: NO_END }),
    ])
    expect(explorer.received.length).toBeLessThan(120)
  })

  test('can be read once they are processed', async () => {
    const gap = { listing: 'txlistinternal', from: 70, to: 71, reason: '' }
    const canRead = blockscout.openWallet(wallet).canRead
    expect(await canRead?.(explorerWithout([70, 70]).requestContext, gap)).toBe(false)
    expect(await canRead?.(explorerWithout([80, 80]).requestContext, gap)).toBe(true)
  })
})

describe('a transaction that the listings state in different blocks', () => {
  const before = { txlist: [recordAt(10, 'aa'), recordAt(20, 'bb')] }

  test.for([
    ['of another number', recordAt(21, 'bb')],
    ['of another hash', recordAt(20, 'bb', { blockHash: '0xother' })],
  ] as const)('%s is read again', async ([, moved]) => {
    const reply = (record: FakeRecord) => ({ body: { status: '1', message: 'OK', result: [record] } })
    const override = ({ action }: FakeQuery, request: number) =>
      action === 'tokentx' ? reply(request <= 5 ? moved : recordAt(20, 'bb')) : undefined
    const explorer = fakeExplorer(before, { override })
    const [page] = await readAll(explorer)
    expect(page?.keys.map(({ block, hash }) => `${block} ${hash}`)).toEqual(['10 0xaa', '20 0xbb'])
    expect(explorer.received).toHaveLength(10)
  })

  test('is left out if it is newer than the cutoff', async () => {
    const explorer = fakeExplorer({ ...before, tokentx: [recordAt(21, 'bb')] })
    const [page] = await readAll(explorer, { cutoffMs: 1_600_000_015_000 })
    expect(page).toMatchObject({ head: 10, afterCutoff: 1 })
  })

  test('is an error if it remains so', async () => {
    const explorer = fakeExplorer({ ...before, tokentx: [recordAt(21, 'bb')] })
    await expect(readAll(explorer)).rejects.toMatchObject({
      code: 'PAGE_MALFORMED',
      message: 'the listings state transaction 0xbb in blocks 20 and 21',
    })
  })
})

test('two readers of a wallet share the listings that one of them has completed', async () => {
  const txlist = Array.from({ length: 15_000 }, (_, block) =>
    recordAt(block, `${block}`, { name: `${block}` }),
  )
  const explorer = fakeExplorer({ txlist, tokentx: txlist.slice(0, 10) })
  const listing = etherscan.openWallet(wallet)
  const range = { from: 0, to: 15_000 }
  const spec = { range, cutoffMs: Number.POSITIVE_INFINITY }
  const low = listing.readRange(explorer.requestContext, { ...spec, order: 'asc' })
  const first = await low.next()
  const high = listing.readRange(explorer.requestContext, {
    ...spec,
    range: { from: 9_999, to: 15_000 },
    order: 'desc',
  })
  const second = await high.next()
  await high.return()
  await low.return()
  expect(recordsIn([first.value, second.value].filter((page) => page !== undefined))).toHaveLength(15_010)
  expect(explorer.received.filter(({ action }) => action !== 'txlist')).toHaveLength(4)
})

test('records of the genesis block, which have no transaction, are the coins before the first one', async () => {
  const genesis = { ...recordAt(0, ''), hash: `GENESIS_${WALLET}`, blockHash: '', value: '327' }
  const [page] = await readAll(fakeExplorer({ txlist: [genesis, recordAt(1, 'aa')] }))
  expect(page?.keys.map(({ hash }) => hash)).toEqual(['0xaa'])
  expect(page?.opening).toBe('327')
})

test('records without a time or a hash are invalid items', async () => {
  const txlist = [
    { ...recordAt(1, 'aa'), timeStamp: '' },
    { ...recordAt(2, ''), hash: '' },
    recordAt(3, 'bb'),
  ]
  const [page] = await readAll(fakeExplorer({ txlist }))
  expect(page).toMatchObject({ items: 3, bad: 2 })
})

test('pages in another order than requested are refused', async () => {
  const txlist = [recordAt(9, 'aa'), recordAt(5, 'bb')]
  await expect(readAll(fakeExplorer({ txlist }))).rejects.toMatchObject({ code: 'PAGE_MALFORMED' })
})

test('transactions of two versions of a block are an error if it remains so', async () => {
  const other = recordAt(20, 'cc', { blockHash: '0xother' })
  const explorer = fakeExplorer({ txlist: [recordAt(20, 'bb')], tokentx: [other] })
  await expect(readAll(explorer)).rejects.toMatchObject({
    message: 'the listings state two versions of block 20',
  })
})

test('a transaction whose own record does not state its block is placed by its transfers', async () => {
  const broken = recordAt(20, 'bb', { blockNumber: '', blockHash: '' })
  const explorer = fakeExplorer(
    { tokentx: [recordAt(20, 'bb')] },
    {
      override: ({ action }) =>
        action === 'txlist'
          ? { body: { status: '1', message: 'OK', result: [recordAt(10, 'aa'), broken] } }
          : undefined,
    },
  )
  const [page] = await readAll(explorer)
  expect(page?.keys.map(({ block, hash }) => `${block} ${hash}`)).toEqual(['10 0xaa', '20 0xbb'])
})

test('a full list without a single decimal block number is malformed', async () => {
  const result = Array.from({ length: 100 }, (_, at) => ({ ...recordAt(at, `${at}`), blockNumber: '0x1' }))
  const override = ({ action }: FakeQuery) =>
    action === 'txlist' ? { body: { status: '1', message: 'OK', result } } : undefined
  const reading = readAll(fakeExplorer({}, { override }), { order: 'desc' })
  await expect(reading).rejects.toMatchObject({ code: 'PAGE_MALFORMED' })
})

describe('a listing that the explorer does not have', () => {
  const refused = { status: '0', message: 'NOTOK', result: 'Error! Missing Or invalid Action name' }
  const explorerWithout = (...actions: readonly string[]) =>
    fakeExplorer(
      { txlist: [recordAt(1, 'aa', { name: '1 0' })] },
      { override: ({ action }) => (actions.includes(action) ? { body: refused } : undefined) },
    )

  test.for([...ACTIONS])('%s is a gap of the page, and the others are read', async (action) => {
    const pages = await readAll(explorerWithout(action))
    expect(recordsIn(pages)).toHaveLength(action === 'txlist' ? 0 : 1)
    const reason = 'the service answered: Error! Missing Or invalid Action name'
    expect(pages.flatMap((page) => page.gaps ?? [])).toEqual([
      { listing: action, from: 0, to: NO_END, reason },
    ])
  })

  test('is an error if the explorer has none of them', async () => {
    await expect(readAll(explorerWithout(...ACTIONS))).rejects.toMatchObject({
      code: 'REQUEST_REFUSED',
      message: expect.stringMatching(/^txlist of wallet/),
    })
  })

  test('is no gap if it is that of ERC-1155 transfers of Blockscout, which may be in tokentx', async () => {
    const [page] = await readAll(explorerWithout('token1155tx'), {}, blockscout)
    expect(page?.gaps).toBeUndefined()
  })
})

test.for([
  { status: '0', message: 'NOTOK', result: [] },
  { status: '0', message: 'NOTOK', result: null },
])('an answer without a reason is requested again: %o', async (body) => {
  let asked = 0
  const override = ({ action }: FakeQuery) => {
    if (action !== 'tokentx') return undefined
    asked += 1
    return asked === 1 ? { body } : undefined
  }
  const explorer = fakeExplorer({ tokentx: [recordAt(1, 'aa', { name: '1 0' })] }, { override })
  expect(recordsIn(await readAll(explorer))).toEqual(['tokentx 1 0'])
})

test('only the documented messages are an empty list', () => {
  const answerWith = (message: string) => Buffer.from(JSON.stringify({ status: '0', message, result: [] }))
  const empty = ['No transactions found', 'No records found', 'No internal transactions found']
  for (const message of [...empty, 'No token transfers found'])
    expect(readRecords(answerWith(message))).toEqual([])
  expect(() => readRecords(answerWith('No API key found'))).toThrow(
    expect.objectContaining({ code: 'KEY_REFUSED' }),
  )
  expect(() => readRecords(answerWith('No chain found'))).toThrow(
    expect.objectContaining({ code: 'REQUEST_REFUSED' }),
  )
})

test('after a timeout, half of the blocks are requested', () => {
  const span = createBlockSpan()
  const timeout = new ExportError('SERVICE_UNAVAILABLE', 'timeout', { status: 504 })
  span.recordTimeout({ from: 0, to: 20_000_000 }, timeout)
  expect(span.firstBlocks({ from: 0, to: 20_000_000 }, 'asc')).toEqual({ from: 0, to: 10_000_000 })
  span.recordTimeout({ from: 0, to: 10_000_000 }, timeout)
  expect(span.firstBlocks({ from: 0, to: 20_000_000 }, 'desc')).toEqual({ from: 15_000_000, to: 20_000_000 })
  for (let blocks = 5_000_000; span.canShrink({ from: 0, to: blocks }); blocks = Math.floor(blocks / 2))
    span.recordTimeout({ from: 0, to: blocks }, timeout)
  expect(span.firstBlocks({ from: 7, to: 20_000_000 }, 'asc')).toEqual({ from: 7, to: 8 })
})

test('a timeout in a bounded range leaves the end of open ranges unknown', () => {
  const span = createBlockSpan()
  span.recordTimeout(
    { from: 0, to: 1_000 },
    new ExportError('SERVICE_UNAVAILABLE', 'timeout', { status: 504 }),
  )
  expect(span.canShrink({ from: 5_000, to: NO_END })).toBe(true)
})
