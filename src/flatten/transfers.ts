import { decimalAt } from './decimal.ts'
import {
  type Fields,
  int32At,
  lowerAt,
  objectAt,
  RejectError,
  requiredInt32,
  requiredLower,
  requiredU256,
  textAt,
  timeAt,
} from './fields.ts'
import { type Party, partyAt } from './party.ts'

type Transfer = { logIndex: number; from: Party; to: Party; tokenAddress: string }

/** An ERC-20 transfer (interface section 2.4). */
export type Erc20 = Transfer & {
  tokenName: string | null
  tokenSymbol: string | null
  tokenDecimals: number | null
  value: string
  priceCurrency: string | null
  priceValue: string | null
}

export function readErc20(entry: Fields): Erc20 {
  const token = objectAt(entry, 'erc20Token')
  const price = objectAt(token, 'price')
  return {
    logIndex: requiredInt32(entry, 'logIndex'),
    from: partyAt(entry, 'from'),
    to: partyAt(entry, 'to'),
    tokenAddress: requiredLower(token, 'address'),
    tokenName: textAt(token, 'name'),
    tokenSymbol: textAt(token, 'symbol'),
    tokenDecimals: int32At(token, 'decimals'),
    value: requiredU256(entry, 'value'),
    priceCurrency: textAt(price, 'currencyCode'),
    priceValue: priceAt(price),
  }
}

/** A price decorates a transfer and is no part of it: what is not a number is null, and the transfer stays. */
function priceAt(price: Fields): string | null {
  try {
    return decimalAt(price, 'value')
  } catch (thrown) {
    if (thrown instanceof RejectError) return null
    throw thrown
  }
}

/** What ERC-721 and ERC-1155 metadata have in common, in the order of the columns. */
export type Metadata = {
  indexStatus: string | null
  updatedAtMs: number | null
  texts: readonly (string | null)[]
}

/** An ERC-721 transfer (interface section 2.5). */
export type Erc721 = Transfer & {
  tokenName: string | null
  tokenSymbol: string | null
  tokenId: string
  tokenUri: string | null
  owner: string | null
  metadata: Metadata
  attributes: string | null
}

export function readErc721(entry: Fields): Erc721 {
  const token = objectAt(entry, 'erc721Token')
  const metadata = objectAt(token, 'metadata')
  return {
    ...readTransfer(entry, token),
    tokenName: textAt(token, 'name'),
    tokenSymbol: textAt(token, 'symbol'),
    tokenId: requiredU256(token, 'tokenId'),
    tokenUri: textAt(token, 'tokenUri'),
    owner: lowerAt(token, 'ownerAddress'),
    metadata: readMetadata(metadata),
    attributes: textAt(metadata, 'attributes'),
  }
}

/** One entry of an ERC-1155 transfer (interface section 2.6). */
export type Erc1155 = Transfer & {
  /** Position among the entries of its log, from 0; bad entries count. */
  ordinal: number
  tokenId: string
  tokenUri: string | null
  value: string
  metadata: Metadata
  metadataDecimals: number | null
  properties: string | null
}

/** Reads one view's entries in their order, which is what numbers the entries of a batch. */
export function erc1155Reader(): (entry: Fields) => Erc1155 {
  const seen = new Map<number, number>()
  return (entry) => {
    const logIndex = requiredInt32(entry, 'logIndex')
    const ordinal = seen.get(logIndex) ?? 0
    seen.set(logIndex, ordinal + 1)
    return readErc1155(entry, ordinal)
  }
}

function readErc1155(entry: Fields, ordinal: number): Erc1155 {
  const token = objectAt(entry, 'erc1155Token')
  const metadata = objectAt(token, 'metadata')
  return {
    ...readTransfer(entry, token),
    ordinal,
    tokenId: requiredU256(token, 'tokenId'),
    tokenUri: textAt(token, 'tokenUri'),
    value: requiredU256(entry, 'value'),
    metadata: readMetadata(metadata),
    metadataDecimals: int32At(metadata, 'decimals'),
    properties: textAt(metadata, 'properties'),
  }
}

function readTransfer(entry: Fields, token: Fields): Transfer {
  return {
    logIndex: requiredInt32(entry, 'logIndex'),
    from: partyAt(entry, 'from'),
    to: partyAt(entry, 'to'),
    tokenAddress: requiredLower(token, 'address'),
  }
}

const METADATA_TEXTS = [
  ...['name', 'symbol', 'description', 'imageUri', 'animationUri', 'externalUrl', 'background'],
] as const

function readMetadata(metadata: Fields): Metadata {
  return {
    indexStatus: textAt(metadata, 'indexStatus'),
    updatedAtMs: timeAt(metadata, 'metadataLastUpdatedTimestamp'),
    texts: METADATA_TEXTS.map((name) => textAt(metadata, name)),
  }
}
