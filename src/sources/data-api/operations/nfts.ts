import type { Call, CallOptions } from './call.ts'
import { type PathSegment, path } from './path.ts'

/** One token of a collection (interface section 4.2). */
export type NftQuery = {
  /** EVM chain id or blockchain id. */
  chainId: PathSegment
  /** Address of the token's contract. */
  address: string
  /** As text or bigint where it is above 2^53. */
  tokenId: PathSegment
}

export type NftOperations = {
  /**
   * Has the metadata of one token read again (interface section 4.2); resolves when the service took the order, not
   * when it is done.
   *
   * The service takes one order for a token in an hour. How it refuses a second is not shown: 429 rejects at once with
   * RATE_LIMITED and `retryAfterMs` where the service gives it, and holds nothing else back; it is waited out only where
   * the answer says that the quota is spent (`ratelimit-remaining: 0`, and at most a minute to wait). A fault is tried
   * again, for a second order does no harm; where the try after it is refused, `mayHaveActed` says that the first may
   * have been taken.
   */
  reindexNft(query: NftQuery, options?: CallOptions): Promise<void>
}

/** The operations on NFTs. */
export function nftOperations(call: Call): NftOperations {
  return { reindexNft: async (query, options) => call(reindexSpec(query), () => undefined, options) }
}

function reindexSpec({ chainId, address, tokenId }: NftQuery) {
  return {
    method: 'POST' as const,
    pathAndQuery: path`/v1/chains/${chainId}/nfts/collections/${address}/tokens/${tokenId}:reindex`,
    label: `reindexing token ${tokenId} of ${address}`,
    hasResourceLimit: true,
  }
}
