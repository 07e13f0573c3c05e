import type { ChainItems } from '../chain.ts'
import { type JsonObject, listOf, objectOf } from '../json.ts'

/** A token that occurs in the transfers of a chain. */
export type NftToken = {
  readonly standard: 'erc721' | 'erc1155'
  /** Block of its first transfer. */
  readonly firstBlock: number
  /** The token object (interface 2.5, 2.6) of its last transfer. */
  readonly token: JsonObject
  /** The latest indexed metadata; undefined if there is none. */
  readonly metadata: JsonObject | undefined
}

/** Collects every NFT of a chain by its key. */
export function collectTokens({ items, blockNumbers }: ChainItems): Map<string, NftToken> {
  const tokens = new Map<string, NftToken>()
  for (const [position, item] of items.entries()) {
    for (const { standard, token } of tokensOf(item)) {
      const key = tokenKey(token.address, token.tokenId)
      const existing = tokens.get(key)
      const metadata = objectOf(token.metadata)
      tokens.set(key, {
        standard,
        firstBlock: existing?.firstBlock ?? (blockNumbers[position] as number),
        token,
        metadata: isIndexed(metadata) ? metadata : existing?.metadata,
      })
    }
  }
  return tokens
}

/** Key of a token within its chain: contract in lower case and token id. */
export function tokenKey(address: unknown, tokenId: unknown): string {
  return `${String(address).toLowerCase()}/${tokenId}`
}

function tokensOf(item: JsonObject) {
  const of = (standard: NftToken['standard']) =>
    listOf(item, `${standard}Transfers`).map((transfer) => ({
      standard,
      token: objectOf(transfer[`${standard}Token`]),
    }))
  return [...of('erc721'), ...of('erc1155')]
}

/** The interface document has the value in lower case; the public service of this shape returns it in upper case. */
function isIndexed({ indexStatus }: JsonObject): boolean {
  return String(indexStatus).toUpperCase() === 'INDEXED'
}
