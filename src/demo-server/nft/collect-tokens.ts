import type { ChainItems } from '../chain.ts'
import { type JsonObject, listOf, objectOf } from '../json.ts'

/** A token that a chain's transfers have moved. */
export type NftToken = {
  readonly standard: 'erc721' | 'erc1155'
  /** Block of its first transfer. */
  readonly firstBlock: number
  /** The token object (interface 2.5, 2.6) of its last transfer. */
  readonly token: JsonObject
  /** The last metadata that was ever indexed; undefined: none. */
  readonly metadata: JsonObject | undefined
}

/** Collects every NFT token of a chain by its key. */
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

/** Contract in lower case and token id: names a token within its chain. */
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

/** The interface shows the word in lower case, the service of this shape writes it in upper case. */
function isIndexed({ indexStatus }: JsonObject): boolean {
  return String(indexStatus).toUpperCase() === 'INDEXED'
}
