import { createHash } from 'node:crypto'
import type { Chain, ChainItems } from './chains.ts'
import { HttpError } from './http-error.ts'
import { type JsonObject, listOf, objectOf } from './json.ts'
import { readAddress, readTokenId } from './parameters.ts'

export type Reindexer = ReturnType<typeof createReindexer>

/**
 * Creates the reindexer of one service. It keeps reindexed metadata in memory.
 *
 * @param clock wall clock in Unix milliseconds
 */
export function createReindexer(clock: () => number) {
  const tokensByChain = new Map<string, Promise<Map<string, NftToken>>>()
  /** By chain and token. */
  const reindexedByChain = new Map<string, Map<string, ReindexedToken>>()

  return {
    /**
     * Reindexes a token's metadata (interface 4.2).
     *
     * @throws `HttpError` 404 if no transfer up to the head contains the token; 429 with `retry-after` if it was reindexed
     * within the last hour, with any API key
     */
    async reindex(chain: Chain, path: { readonly address: string; readonly tokenId: string }): Promise<void> {
      const key = tokenKey(readAddress(path.address), readTokenId(path.tokenId))
      const tokens = tokensByChain.get(chain.id) ?? chain.items().then(collectTokens)
      tokensByChain.set(chain.id, tokens)
      const token = (await tokens).get(key)
      if (!token || token.firstBlock > chain.head()) {
        const { address, tokenId } = path
        throw new HttpError(404, `chain ${chain.id} has no token ${tokenId} of a contract ${address} here.`)
      }
      const reindexed = reindexedByChain.get(chain.id) ?? new Map<string, ReindexedToken>()
      const readMs = clock()
      const elapsedMs = readMs - (reindexed.get(key)?.readMs ?? Number.NEGATIVE_INFINITY)
      if (elapsedMs < HOUR_MS) throw tooEarly(HOUR_MS - Math.max(0, elapsedMs))
      reindexedByChain.set(chain.id, reindexed.set(key, { token, readMs }))
    },
    /** Returns an item of a chain with the metadata of reindexed tokens. */
    refresh(chainId: string, item: JsonObject): JsonObject {
      const reindexed = reindexedByChain.get(chainId)
      return reindexed === undefined ? item : refreshItem(item, reindexed)
    },
  }
}

type ReindexedToken = { readonly token: NftToken; readonly readMs: number }

const HOUR_MS = 3_600_000

function tooEarly(waitMs: number): HttpError {
  const wait = String(Math.ceil(waitMs / 1000))
  const message = `This token was reindexed within the last hour: retry in ${wait} s.`
  return new HttpError(429, message, { 'retry-after': wait })
}

/** A token that occurs in the transfers of a chain. */
type NftToken = {
  readonly standard: Standard
  /** Block of its first transfer. */
  readonly firstBlock: number
  /** The token object (interface 2.5, 2.6) of its last transfer. */
  readonly token: JsonObject
  /** The latest indexed metadata; undefined if there is none. */
  readonly metadata: JsonObject | undefined
}

const STANDARDS = ['erc721', 'erc1155'] as const
type Standard = (typeof STANDARDS)[number]

/** Collects every NFT of a chain by its key. */
function collectTokens({ items, blockNumbers }: ChainItems): Map<string, NftToken> {
  const tokens = new Map<string, NftToken>()
  for (const [position, item] of items.entries()) {
    for (const standard of STANDARDS) {
      for (const transfer of listOf(item, `${standard}Transfers`)) {
        const token = objectOf(transfer[`${standard}Token`])
        const key = tokenKey(token.address, token.tokenId)
        const existing = tokens.get(key)
        const firstBlock = existing?.firstBlock ?? (blockNumbers[position] as number)
        const metadata = isIndexed(objectOf(token.metadata)) ? objectOf(token.metadata) : existing?.metadata
        tokens.set(key, { standard, firstBlock, token, metadata })
      }
    }
  }
  return tokens
}

/** Key of a token within its chain: contract in lower case and token id. */
function tokenKey(address: unknown, tokenId: unknown): string {
  return `${String(address).toLowerCase()}/${tokenId}`
}

/** The interface document has the value in lower case; the public service of this shape returns it in upper case. */
function isIndexed({ indexStatus }: JsonObject): boolean {
  return String(indexStatus).toUpperCase() === 'INDEXED'
}

function refreshItem(item: JsonObject, reindexed: ReadonlyMap<string, ReindexedToken>): JsonObject {
  const lists = STANDARDS.filter((standard) => Array.isArray(item[`${standard}Transfers`])).map(
    (standard) => {
      const transfers = listOf(item, `${standard}Transfers`).map((transfer) => {
        const token = objectOf(transfer[`${standard}Token`])
        const entry = reindexed.get(tokenKey(token.address, token.tokenId))
        return entry
          ? { ...transfer, [`${standard}Token`]: { ...token, metadata: metadataOf(entry) } }
          : transfer
      })
      return [`${standard}Transfers`, transfers]
    },
  )
  return { ...item, ...Object.fromEntries(lists) }
}

/**
 * Returns the metadata of a reindexed token: the previously indexed contents, or, if there are none, contents generated
 * deterministically from the token.
 */
function metadataOf({ token, readMs }: ReindexedToken): JsonObject {
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
