import { ExportError } from '../../../core/model/errors.ts'
import type { Client } from '../../../http/http-client.ts'
import type { RequestContext } from '../../../http/request.ts'
import { readTransaction } from '../read-transaction.ts'
import { isEmptyRange, isWithin } from './complete-blocks.ts'
import type { InternalBlocks } from './internal-listing.ts'
import { type AddedBlocks, type BlockFailure, findContradiction } from './outdated-blocks.ts'
import { isOfBlock, type JsonObject, type Listed } from './unite-internals.ts'

/** Internal transactions of blocks, and by hash the transactions that only they name. */
export type DetailedBlocks = InternalBlocks & {
  details: ReadonlyMap<string, JsonObject>
  /** Why the next block could not be completed. */
  failure?: BlockFailure
}

/** Maximum number of transactions that are requested before their blocks are passed on, unless a block has more. */
export const MAX_DETAILS = 25

/**
 * Requests the transactions that only the listing of internal transactions names. If there are many, or if one of them
 * fails or contradicts the listing, only the blocks before the first one that is missing are returned, so that a run with
 * a limit of requests makes progress. They may be none.
 */
export async function readUnlisted(
  requestContext: RequestContext,
  blocks: AddedBlocks,
): Promise<DetailedBlocks> {
  const { listed, added, chain, order } = blocks
  const distance = (from: number, to: number) => (order === 'asc' ? to - from : from - to)
  const unlisted = unlistedIn(listed, added).sort((a, b) => distance(b.block, a.block))
  const last = unlisted[MAX_DETAILS - 1]?.block
  const requested = unlisted.filter(({ block }) => last === undefined || distance(last, block) <= 0)
  const { details, failed } = await requestDetails(requestContext, { requested, chain })
  const next = failed ?? unlisted[requested.length]
  const complete = next === undefined ? added : blocksBefore(added, { block: next.block, order })
  const contradiction = findContradiction({ ...blocks, added: complete }, details)
  if (contradiction !== undefined)
    return { ...blocksBefore(complete, { ...contradiction, order }), details, failure: contradiction.failure }
  return { ...complete, details, ...(failed && { failure: failed.failure }) }
}

type Unlisted = Listed & { hash: string; block: number }

/** The transactions without an item, each once. */
function unlistedIn({ entries: items }: AddedBlocks['listed'], { entries }: InternalBlocks): Unlisted[] {
  const known = new Set(items.map(({ hash }) => hash))
  return entries.flatMap(({ hash, block, entry }) => {
    if (hash === undefined || block === undefined || known.has(hash)) return []
    known.add(hash)
    return [{ hash, block, entry }]
  })
}

/** Requests transactions. Returns those that were received, and the first of the others. */
async function requestDetails(
  requestContext: RequestContext,
  { requested, chain }: { requested: readonly Unlisted[]; chain: string },
) {
  const results = await Promise.allSettled(
    requested.map((listed) => readSharedTransaction(requestContext, { chain, listed })),
  )
  const details = new Map<string, JsonObject>()
  let failed: { block: number; failure: BlockFailure } | undefined
  for (const [at, { hash, block }] of requested.entries()) {
    const result = results[at]
    if (result?.status === 'fulfilled') details.set(hash, result.value)
    else failed ??= { block, failure: detailsFailure(result?.reason) }
  }
  return { details, failed }
}

/** The blocks before a block, in the order of reading. Entries without a block belong to the first ones. */
function blocksBefore(
  { covered, entries }: InternalBlocks,
  { block: end, order }: { block: number; order: 'asc' | 'desc' },
): InternalBlocks {
  const before = order === 'asc' ? { from: covered.from, to: end } : { from: end + 1, to: covered.to }
  if (isEmptyRange(before)) return { covered: before, entries: [] }
  return {
    covered: before,
    entries: entries.filter(({ block }) => block === undefined || isWithin(block, before)),
  }
}

/** A service without details cannot complete a transaction. One that a reorg has removed has no details either. */
function detailsFailure(error: unknown): BlockFailure {
  if (!(error instanceof ExportError) || error.code !== 'REQUEST_REFUSED')
    return { error, mayBeOutdated: false }
  const { code, message, status } = error
  const refusal = new ExportError(
    code,
    `${message}; only the listing of internal transactions names this transaction`,
    {
      fix: 'Run the job again, or set internals: listing if the service has no details of transactions.',
      cause: error,
      ...(status === undefined ? {} : { status }),
    },
  )
  return { error: refusal, mayBeOutdated: status === 404 }
}

/** Transactions of a run that only listings of internal transactions name, by chain, hash and block. */
const cachesByClient = new WeakMap<Client, Map<string, Promise<JsonObject>>>()

/** Maximum number of transactions in the cache, of about 2 KB each. */
const MAX_CACHED = 2_000

/**
 * Requests the transaction of an entry, once for all wallets of a run that name it. Failed requests are not cached, nor
 * is a transaction of another block than the entry names.
 */
function readSharedTransaction(
  requestContext: RequestContext,
  { chain, listed: { hash = '', entry } }: { chain: string; listed: Listed },
): Promise<JsonObject> {
  const cache = cachesByClient.get(requestContext.client) ?? new Map<string, Promise<JsonObject>>()
  cachesByClient.set(requestContext.client, cache)
  const key = JSON.stringify([chain, hash, entry.blockNumber, entry.blockHash])
  const cached = cache.get(key)
  if (cached !== undefined) return cached
  const transaction = readTransaction(requestContext, { chain, hash })
  cache.set(key, transaction)
  for (const oldest of cache.keys()) if (cache.size > MAX_CACHED) cache.delete(oldest)
  transaction.then(
    (native) => {
      if (!isOfBlock(entry, native)) cache.delete(key)
    },
    () => cache.delete(key),
  )
  return transaction
}
