import type { RangePage } from '../../source.ts'
import { keyOfItem } from '../parse-item-key.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** An entry of a listing, with its block and transaction; both are undefined for an entry without a valid position. */
export type Listed = { block: number | undefined; hash: string | undefined; entry: JsonObject }

/**
 * Reads the entries of a page's body, which is valid.
 *
 * @param toItem converts an entry to an item of the wallet listing
 */
export function readListed(
  { body }: Pick<RangePage, 'body'>,
  chain: string,
  toItem: (entry: unknown) => unknown = (entry) => entry,
): Listed[] {
  const { transactions } = JSON.parse(body.toString('utf8')) as { transactions: JsonObject[] }
  return transactions.map((entry) => {
    const key = keyOfItem(toItem(entry), chain)
    return typeof key === 'string'
      ? { block: undefined, hash: undefined, entry }
      : { block: key.block, hash: key.hash, entry }
  })
}

/** Whether an internal transaction and a transaction name the same block, as far as both name its hash. */
export function isOfBlock({ blockHash, blockNumber }: JsonObject, native: unknown): boolean {
  const of = native as JsonObject
  const [hash, other] = [blockHash, of.blockHash].map((one) =>
    typeof one === 'string' ? one.toLowerCase() : '',
  )
  return (!hash || !other || hash === other) && String(blockNumber) === String(of.blockNumber)
}
