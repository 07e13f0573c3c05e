import type { Chain } from '../chain.ts'
import type { DataServiceOptions } from '../data-service.ts'
import { HttpError } from '../http-error.ts'
import { type JsonObject, objectOf } from '../json.ts'
import { readAddress, readTokenId } from '../path-parameters.ts'
import type { Call } from '../route.ts'
import { collectTokens, type NftToken, tokenKey } from './collect-tokens.ts'
import { readMetadata } from './read-metadata.ts'

export type Reindexer = {
  /**
   * Reads a token's metadata again (interface 4.2). Refuses with 404 a token that no transfer up to the head has
   * moved, and with 429 and retry-after one that was read within the last hour, whoever asked.
   */
  reindex(call: Call, chain: Chain): Promise<void>
  /** Puts the metadata of tokens that were read again into a chain's item. */
  refreshMetadata(chainId: string): (item: JsonObject) => JsonObject
}

/** Creates the reindexer of one service, which remembers every reading as long as it lives. */
export function createReindexer(options: DataServiceOptions): Reindexer {
  const { clock = Date.now, reindexDelayMs = 0 } = options
  const tokensOf = createTokenIndex()
  const reindexedByChain = new Map<string, Map<string, ReindexedToken>>()

  return {
    async reindex({ path }, chain) {
      const key = tokenKey(readAddress(path.address), readTokenId(path.tokenId))
      const token = (await tokensOf(chain)).get(key)
      if (!token || token.firstBlock > chain.head()) throw unknownToken(chain.id, path)
      const reindexed = reindexedByChain.get(chain.id) ?? new Map<string, ReindexedToken>()
      const nowMs = clock()
      const previous = reindexed.get(key)
      if (previous) requireHourElapsed(nowMs - previous.requestedMs)
      const previousReadMs = previous && latestReadMs(previous, nowMs)
      reindexedByChain.set(
        chain.id,
        reindexed.set(key, { token, requestedMs: nowMs, readMs: nowMs + reindexDelayMs, previousReadMs }),
      )
    },
    refreshMetadata: (chainId) => {
      const reindexed = reindexedByChain.get(chainId)
      if (!reindexed) return (item) => item
      return (item) => refreshItem(item, (key) => metadataOf(reindexed.get(key), clock()))
    },
  }
}

type ReindexedToken = {
  readonly token: NftToken
  readonly requestedMs: number
  /** When the new metadata is there. */
  readonly readMs: number
  /** When the metadata was read that is there until then; undefined: as the chain's items have it. */
  readonly previousReadMs: number | undefined
}

const HOUR_MS = 3_600_000

function requireHourElapsed(elapsedMs: number): void {
  if (elapsedMs >= HOUR_MS) return
  const wait = String(Math.ceil((HOUR_MS - Math.max(0, elapsedMs)) / 1000))
  throw new HttpError(429, `This token was reindexed within the last hour: ask again in ${wait} s.`, {
    'retry-after': wait,
  })
}

function unknownToken(chainId: string, { address, tokenId }: Call['path']): HttpError {
  return new HttpError(404, `chain ${chainId} has no token ${tokenId} of a contract ${address} here.`)
}

/** A chain's tokens, collected on first use. */
function createTokenIndex(): (chain: Chain) => Promise<Map<string, NftToken>> {
  const indexes = new Map<string, Promise<Map<string, NftToken>>>()
  return (chain) => {
    const index = indexes.get(chain.id) ?? chain.items().then(collectTokens)
    indexes.set(chain.id, index)
    return index
  }
}

function latestReadMs({ readMs, previousReadMs }: ReindexedToken, nowMs: number): number | undefined {
  return readMs <= nowMs ? readMs : previousReadMs
}

function metadataOf(reindexed: ReindexedToken | undefined, nowMs: number): JsonObject | undefined {
  const readMs = reindexed && latestReadMs(reindexed, nowMs)
  return reindexed && readMs !== undefined ? readMetadata(reindexed.token, readMs) : undefined
}

function refreshItem(item: JsonObject, find: (key: string) => JsonObject | undefined): JsonObject {
  const refreshList = (standard: NftToken['standard']) => {
    const transfers = item[`${standard}Transfers`]
    if (!Array.isArray(transfers)) return {}
    return {
      [`${standard}Transfers`]: transfers.map((transfer) => refreshTransfer(transfer, standard, find)),
    }
  }
  return { ...item, ...refreshList('erc721'), ...refreshList('erc1155') }
}

function refreshTransfer(
  transfer: JsonObject,
  standard: NftToken['standard'],
  find: (key: string) => JsonObject | undefined,
): JsonObject {
  const token = objectOf(objectOf(transfer)[`${standard}Token`])
  const metadata = find(tokenKey(token.address, token.tokenId))
  return metadata ? { ...transfer, [`${standard}Token`]: { ...token, metadata } } : transfer
}
