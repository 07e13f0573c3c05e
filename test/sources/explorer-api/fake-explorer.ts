import type { ApiResponse } from '../../../src/http/http-client.ts'
import type { RequestContext } from '../../../src/http/request.ts'
import { fakeClient } from '../../helpers/fake-client.ts'

export const WALLET = '0x00000000000000000000000000000000000000aa'

export type FakeRecord = Readonly<Record<string, string>>
/** Records by action, in ascending order. */
export type FakeListings = Readonly<Record<string, readonly FakeRecord[]>>
export type FakeQuery = {
  action: string
  from: number
  to: number
  sort: string
  offset: number
  page: number
}
type Reply = { status?: number; body: unknown }

/** A record with a position in the chain; `name` makes its hash. */
export function recordAt(block: number, name: string, fields: FakeRecord = {}): FakeRecord {
  const position = {
    blockNumber: String(block),
    timeStamp: String(1_600_000_000 + block),
    transactionIndex: '0',
  }
  return { ...position, hash: `0x${name}`, blockHash: `0xb${block}`, ...fields }
}

/**
 * An explorer in memory, whose answers have at most `maxRecords` records, which may depend on the number of the request.
 *
 * @param override answers some of the requests differently
 */
export function fakeExplorer(
  listings: FakeListings,
  {
    maxRecords = 10_000,
    override = () => undefined,
  }: {
    maxRecords?: number | ((request: number) => number)
    override?: (query: FakeQuery, request: number) => Reply | undefined
  } = {},
): { requestContext: RequestContext; received: FakeQuery[] } {
  const received: FakeQuery[] = []
  const send = async ({ pathAndQuery }: { pathAndQuery: string }): Promise<ApiResponse> => {
    const { searchParams: query } = new URL(pathAndQuery, 'http://loopback')
    const one: FakeQuery = {
      action: query.get('action') ?? '',
      from: Number(query.get('startblock')),
      to: Number(query.get('endblock') ?? Number.MAX_SAFE_INTEGER),
      sort: query.get('sort') ?? '',
      offset: Number(query.get('offset')),
      page: Number(query.get('page') ?? 1),
    }
    received.push(one)
    const limit = typeof maxRecords === 'number' ? maxRecords : maxRecords(received.length)
    const { status = 200, body } =
      override(one, received.length) ?? answer(windowOf(listings[one.action] ?? [], one, limit))
    const bytes = typeof body === 'string' ? body : JSON.stringify(body)
    return { status, headers: {}, body: Buffer.from(bytes) }
  }
  const requestContext: RequestContext = {
    client: fakeClient(send),
    rateLimiter: { acquire: async () => () => {}, pausedForMs: () => 0 },
    limit: (task) => task(),
    retry: { retries: 2, firstDelayMs: 0 },
    signal: new AbortController().signal,
    onEvent: () => {},
  }
  return { requestContext, received }
}

function windowOf(
  records: readonly FakeRecord[],
  { from, to, sort, offset, page }: FakeQuery,
  maxRecords: number,
): readonly FakeRecord[] {
  const inRange = records.filter(
    ({ blockNumber }) => Number(blockNumber) >= from && Number(blockNumber) <= to,
  )
  const sorted = sort === 'desc' ? inRange.toReversed() : inRange
  const size = Math.min(offset, maxRecords)
  return sorted.slice((page - 1) * size, page * size)
}

const answer = (result: readonly FakeRecord[]): Reply => ({
  body:
    result.length === 0
      ? { status: '0', message: 'No transactions found', result }
      : { status: '1', message: 'OK', result },
})
