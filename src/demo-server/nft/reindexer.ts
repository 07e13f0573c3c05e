import { createHash } from 'node:crypto'
import type { Chain } from '../chain.ts'
import type { DataServiceOptions } from '../data-service.ts'
import { HttpError } from '../http-error.ts'
import { type JsonObject, objectOf } from '../json.ts'
import { readAddress, readTokenId } from '../path-parameters.ts'
import type { Call } from '../route.ts'
import { collectTokens, type NftToken, tokenKey } from './collect-tokens.ts'

export type Reindexer = {
  /**
   * Reindexes a token's metadata (interface 4.2).
   *
   * @throws `HttpError` 404 if no transfer up to the head contains the token; 429 with `retry-after` if it was reindexed
   * within the last hour, with any API key
   */
  reindex(call: Call, chain: Chain): Promise<void>
  /** Returns a function that replaces the metadata of reindexed tokens in an item of the chain. */
  refreshMetadata(chainId: string): (item: JsonObject) => JsonObject
}

/** Creates the reindexer of one service. It keeps reindexed metadata in memory. */
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
  /** Time from which the new metadata is served. */
  readonly readMs: number
  /** Time of the metadata that is served until then; undefined for the metadata in the chain's items. */
  readonly previousReadMs: number | undefined
}

const HOUR_MS = 3_600_000

function requireHourElapsed(elapsedMs: number): void {
  if (elapsedMs >= HOUR_MS) return
  const wait = String(Math.ceil((HOUR_MS - Math.max(0, elapsedMs)) / 1000))
  throw new HttpError(429, `This token was reindexed within the last hour: retry in ${wait} s.`, {
    'retry-after': wait,
  })
}

function unknownToken(chainId: string, { address, tokenId }: Call['path']): HttpError {
  return new HttpError(404, `chain ${chainId} has no token ${tokenId} of a contract ${address} here.`)
}

/** Collects the tokens of a chain at the first use. */
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

/**
 * Returns the metadata of a reindexed token: the previously indexed contents, or, if there are none, contents generated
 * deterministically from the token.
 *
 * @param readMs Time of the reindexing in Unix milliseconds
 */
function readMetadata(token: NftToken, readMs: number): JsonObject {
  return {
    ...(token.metadata ?? generateContents(token)),
    indexStatus: 'INDEXED',
    metadataLastUpdatedTimestamp: Math.floor(readMs / 1000),
  }
}

function generateContents({ standard, token }: NftToken): JsonObject {
  const { address, tokenId, name, symbol } = token
  const digest = createHash('sha256').update(`${address}/${tokenId}`).digest()
  const contents = {
    name: `${name ?? ''} #${tokenId}`.trim(),
    symbol: String(symbol ?? ''),
    imageUri: `ipfs://img/${digest.toString('hex').slice(0, 8)}.png`,
    description: `Token ${tokenId}, generated by reindexing.`,
    animationUri: '',
    externalUrl: '',
    background: '',
  }
  const rarity = digest.readUInt8(0)
  return standard === 'erc721'
    ? { ...contents, attributes: JSON.stringify([{ trait_type: 'Rarity', value: rarity }]) }
    : { ...contents, decimals: 0, properties: JSON.stringify({ rarity }) }
}
