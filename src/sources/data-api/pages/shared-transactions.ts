import type { Client } from '../../../http/http-client.ts'
import type { RequestContext } from '../../../http/request.ts'
import { readTransaction } from '../read-transaction.ts'
import { isOfBlock, type JsonObject, type Listed } from './listed.ts'

/** Transactions of a run that only listings of internal transactions name, by chain, hash and block. */
const cachesByClient = new WeakMap<Client, Map<string, Promise<JsonObject>>>()

/** Maximum number of transactions in the cache, of about 2 KB each. */
const MAX_CACHED = 2_000

/**
 * Requests the transaction of an entry, once for all wallets of a run that name it. Failed requests are not cached, nor
 * is a transaction of another block than the entry names.
 */
export function readSharedTransaction(
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
