import { expect } from 'vitest'
import { type BlockRange, NO_END } from '../../../../src/core/model/model.ts'
import type { ApiResponse } from '../../../../src/http/http-client.ts'
import type { RequestContext } from '../../../../src/http/request.ts'
import { dataApi } from '../../../../src/sources/data-api/data-api.ts'
import type { RangePage } from '../../../../src/sources/source.ts'
import { fakeClient } from '../../../helpers/fake-client.ts'
import { bodyOf, itemAt } from './listing.ts'

const ADDRESS = `0x${'a'.repeat(40)}`
const OTHER = `0x${'b'.repeat(40)}`

/** A transaction in a block, with the values of its internal transactions. */
type Given = {
  second?: number
  values?: readonly number[]
  isListed?: boolean
  listedValues?: readonly number[]
}
export type Transaction = Required<Given> & {
  block: number
  /** The block that the listing of internal transactions states. */
  internalsHash: string
  item: ReturnType<typeof itemAt>
}

export const internalOf = (value: number) => ({
  from: { address: OTHER },
  to: { address: ADDRESS },
  value: String(value),
  internalTxType: 'CALL',
})

/** One transaction in each block from 0 on. Its listing contains `listedValues`, by default all values. */
function transactionsOf(given: readonly Given[]): Transaction[] {
  return given.map(({ second, values = [], isListed = true, listedValues = values }, block) => {
    const time = second ?? block
    const item = itemAt(block, { second: time })
    const internalsHash = `0xb${block}`
    Object.assign(item.nativeTransaction, { blockHash: internalsHash })
    return { block, second: time, values, isListed, listedValues, internalsHash, item }
  })
}

type Entry = { block: number; entry: object }

export function listingsOf(transactions: readonly Transaction[]) {
  const listed = transactions.filter(({ isListed }) => isListed)
  const items = listed.map(({ block, item, listedValues }): Entry => {
    return { block, entry: { ...item, internalTransactions: listedValues.map(internalOf) } }
  })
  const internals = transactions.flatMap(({ block, item, values, internalsHash }) => {
    const { blockNumber, blockTimestamp, txHash } = item.nativeTransaction
    const position = { blockNumber, blockTimestamp, blockHash: internalsHash, txHash }
    return values.map((value): Entry => ({ block, entry: { ...position, ...internalOf(value) } }))
  })
  return { items, internals }
}

export type Service = {
  pageSize?: number
  hasTokens?: boolean
  given?: readonly Given[]
  /** Number of requests before which the last block does not exist. @default 0 */
  lastAppearsAfter?: number
  /** Replaces responses; undefined for the correct one. */
  fault?: (pathAndQuery: string) => ApiResponse | undefined
}

/** A service whose pages are smaller than requested, and whose tokens are offsets, refused at first without `hasTokens`. */
export function startService({
  pageSize = 3,
  hasTokens = true,
  given = [],
  lastAppearsAfter = 0,
  fault,
}: Service) {
  const transactions = transactionsOf(given)
  const received: string[] = []
  const refused = new Set<string>()
  const send = async ({ pathAndQuery }: { pathAndQuery: string }): Promise<ApiResponse> => {
    const { pathname, searchParams: query } = new URL(pathAndQuery, 'http://loopback')
    received.push(pathname.split('/').at(-1) ?? '')
    const replaced = fault?.(pathAndQuery)
    if (replaced !== undefined) return replaced
    const hash = /0x[0-9a-f]{64}$/.exec(pathname)?.[0]
    const found = transactions.find(({ item }) => item.nativeTransaction.txHash === hash)
    if (hash !== undefined)
      return reply(Buffer.from(JSON.stringify({ ...found?.item, internalTransactions: [] })))
    const [from, to] = [Number(query.get('startBlock')), Number(query.get('endBlock'))]
    const head = received.length > lastAppearsAfter ? given.length : given.length - 1
    const { items, internals } = listingsOf(transactions)
    const all = (pathname.endsWith(':listInternals') ? internals : items).filter(
      ({ block }) => block >= from && block < to && block < head,
    )
    if (query.get('sortOrder') === 'desc') all.reverse()
    const token = query.get('pageToken')
    if (token !== null && !hasTokens && !refused.has(pathAndQuery)) {
      refused.add(pathAndQuery)
      return { status: 400, headers: {}, body: Buffer.from('{"message":"unknown token"}') }
    }
    const start = Number(token ?? 0)
    const end = start + pageSize
    const page = all.slice(start, end).map(({ entry }) => entry)
    return reply(bodyOf(page, end < all.length ? String(end) : undefined))
  }
  const requestContext: RequestContext = {
    client: fakeClient(send),
    rateLimiter: { acquire: async () => () => {}, pausedForMs: () => 0 },
    limit: (task) => task(),
    retry: { retries: 0, firstDelayMs: 0 },
    signal: new AbortController().signal,
    onEvent: () => {},
  }
  return { requestContext, received, transactions }
}

export const reply = (body: Buffer): ApiResponse => ({ status: 200, headers: {}, body })

type Reading = {
  range?: BlockRange
  order?: 'asc' | 'desc'
  keep?: (rest: BlockRange) => BlockRange | undefined
  /** Receives the pages. */
  pages?: RangePage[]
  address?: string
}

export async function read(
  { requestContext }: Pick<ReturnType<typeof startService>, 'requestContext'>,
  given: Reading = {},
) {
  const {
    range = { from: 0, to: NO_END },
    order = 'asc',
    keep = (rest: BlockRange) => rest,
    pages = [],
    address = ADDRESS,
  } = given
  const listing = dataApi.openWallet({ chain: '1', address, internals: 'full' })
  const request = { range, order, cutoffMs: Number.POSITIVE_INFINITY, narrowRange: keep } as const
  for await (const page of listing.readRange(requestContext, request)) pages.push(page)
  return pages
}

type StoredItem = { nativeTransaction: { blockNumber: string }; internalTransactions?: { value: string }[] }

/** The values of the internal transactions in the pages, by block, each block with the page that covers it. */
export function valuesIn(pages: readonly RangePage[]): Record<number, number[]> {
  const values: Record<number, number[]> = {}
  for (const { body, covered } of pages)
    for (const item of (JSON.parse(body.toString()) as { transactions: StoredItem[] }).transactions) {
      const block = Number(item.nativeTransaction.blockNumber)
      expect(block >= covered.from && block < covered.to).toBe(true)
      values[block] = (item.internalTransactions ?? []).map(({ value }) => Number(value)).sort()
    }
  return values
}

export const expectedValues = (transactions: readonly Transaction[]) =>
  Object.fromEntries(
    transactions
      .filter(({ isListed, values }) => isListed || values.length > 0)
      .map(({ block, values }) => [block, [...values].sort()]),
  )
