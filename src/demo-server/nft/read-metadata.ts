import { createHash } from 'node:crypto'
import type { JsonObject } from '../json.ts'
import type { NftToken } from './collect-tokens.ts'

/**
 * Gives what a new reading of a token's metadata finds: what was indexed before, or, where nothing was, contents made
 * from the token alone, always the same. `readMs` is when it was read, Unix milliseconds.
 */
export function readMetadata(token: NftToken, readMs: number): JsonObject {
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
    description: `Token ${tokenId} as it was read again.`,
    animationUri: '',
    externalUrl: '',
    background: '',
  }
  const rarity = digest.readUInt8(0)
  return standard === 'erc721'
    ? { ...contents, attributes: JSON.stringify([{ trait_type: 'Rarity', value: rarity }]) }
    : { ...contents, decimals: 0, properties: JSON.stringify({ rarity }) }
}
