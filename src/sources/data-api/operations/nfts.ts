import { type Call, type CallOptions, type PathSegment, path } from './call.ts'

/** A token of a collection (interface section 4.2). */
export type NftQuery = {
  /** EVM chain id or blockchain id. */
  chainId: PathSegment
  /** Address of the token contract. */
  address: string
  /** Token id; as text or bigint above 2^53. */
  tokenId: PathSegment
}

export type NftOperations = {
  /**
   * Requests that the service reads the metadata of a token again (interface section 4.2). Resolves when the
   * service has accepted the request, not when it is done.
   *
   * The service accepts one request per token and hour. The interface does not show how it refuses another
   * one. A 429 therefore rejects immediately with RATE_LIMITED, and `retryAfterMs` if it is stated, and
   * pauses nothing else. It is waited out only if the response states that the quota is used up
   * (`ratelimit-remaining: 0`, and at most one minute to wait). Errors are retried, since a second request
   * does no harm; if the retry is refused, `mayHaveActed` states that the first attempt may have been
   * accepted.
   */
  reindexNft(query: NftQuery, options?: CallOptions): Promise<void>
}

/** Creates the operations on NFTs. */
export function nftOperations(call: Call): NftOperations {
  return { reindexNft: async (query, options) => call(reindexSpec(query), () => undefined, options) }
}

function reindexSpec({ chainId, address, tokenId }: NftQuery) {
  return {
    method: 'POST' as const,
    pathAndQuery: path`/v1/chains/${chainId}/nfts/collections/${address}/tokens/${tokenId}:reindex`,
    description: `reindexing token ${tokenId} of ${address}`,
    hasResourceLimit: true,
  }
}
