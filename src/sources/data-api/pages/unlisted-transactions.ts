import { ExportError } from '../../../core/model/errors.ts'
import type { RequestContext } from '../../../http/request.ts'
import { readTransaction } from '../read-transaction.ts'
import { type CompleteBlocks, isEmptyRange, isWithin, type JsonObject } from './complete-blocks.ts'
import type { InternalBlocks } from './internal-listing.ts'
import type { RangeSpec } from './read-token-chain.ts'

type AddedBlocks = Pick<RangeSpec, 'chain' | 'order'> & {
  listed: CompleteBlocks
  added: InternalBlocks
}

/** Internal transactions of blocks, and by hash the transactions that only they name. */
export type DetailedBlocks = InternalBlocks & {
  details: ReadonlyMap<string, JsonObject>
  /** Why the transactions of the next block could not be read. */
  failure?: unknown
}

/** Maximum number of transactions that are requested before their blocks are passed on, unless a block has more. */
const MAX_DETAILS = 25

/**
 * Requests the transactions that only the listing of internal transactions names. If there are many, or if one of them
 * fails, only the blocks before the first one that is missing are returned, so that a run with a limit of requests makes
 * progress.
 *
 * @throws the failure if it concerns the first block with such transactions
 */
export async function readUnlisted(
  requestContext: RequestContext,
  { listed, added, chain, order }: AddedBlocks,
): Promise<DetailedBlocks> {
  const distance = (from: number, to: number) => (order === 'asc' ? to - from : from - to)
  const unlisted = unlistedIn(listed, added).sort((a, b) => distance(b.block, a.block))
  const last = unlisted[MAX_DETAILS - 1]?.block
  const requested = unlisted.filter(({ block }) => last === undefined || distance(last, block) <= 0)
  const results = await Promise.allSettled(
    requested.map(({ hash }) => readTransaction(requestContext, { chain, hash }).catch(adviseListing)),
  )
  const details = new Map<string, JsonObject>()
  for (const [at, result] of results.entries()) {
    const { hash = '', block = 0 } = requested[at] ?? {}
    if (result.status === 'fulfilled') {
      details.set(hash, result.value)
      continue
    }
    const read = blocksBefore(added, { block, order })
    if (isEmptyRange(read.covered)) throw result.reason
    return { ...read, details, failure: result.reason }
  }
  const next = unlisted[requested.length]
  return { ...(next === undefined ? added : blocksBefore(added, { block: next.block, order })), details }
}

type Unlisted = { hash: string; block: number }

/** The transactions without an item, each once. */
function unlistedIn({ entries: items }: CompleteBlocks, { entries }: InternalBlocks): Unlisted[] {
  const known = new Set(items.map(({ hash }) => hash))
  return entries.flatMap(({ hash, block }) => {
    if (hash === undefined || block === undefined || known.has(hash)) return []
    known.add(hash)
    return [{ hash, block }]
  })
}

/** The blocks before a block, in the order of reading. Entries without a block belong to the first ones. */
function blocksBefore(
  { covered, entries }: InternalBlocks,
  { block: end, order }: { block: number; order: 'asc' | 'desc' },
): InternalBlocks {
  const before = order === 'asc' ? { from: covered.from, to: end } : { from: end + 1, to: covered.to }
  return {
    covered: before,
    entries: entries.filter(({ block }) => block === undefined || isWithin(block, before)),
  }
}

/** A service without details cannot complete these transactions. */
function adviseListing(thrown: unknown): never {
  if (!(thrown instanceof ExportError) || thrown.code !== 'REQUEST_REFUSED') throw thrown
  const { code, message, status } = thrown
  throw new ExportError(
    code,
    `${message}; only the listing of internal transactions names this transaction`,
    {
      fix: 'Run the job again, or set internals: listing if the service has no details of transactions.',
      cause: thrown,
      ...(status === undefined ? {} : { status }),
    },
  )
}
