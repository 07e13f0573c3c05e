import { shiftDecimal, trimZeros } from '../../core/platform/decimal.ts'
import type { Cells } from '../../core/table/index.ts'
import {
  type Fields,
  int32At,
  jsonTextAt,
  lowerAt,
  objectAt,
  optionalObjectAt,
  requiredInt32,
  requiredLower,
  requiredU256,
  textAt,
  timeAt,
} from '../fields.ts'
import { logTransferId } from '../transfer-id.ts'

/** The row of an ERC-20 transfer (interface section 2.4). */
export function readErc20(entry: Fields): Cells<'erc20_transfers'> {
  const token = objectAt(entry, 'erc20Token')
  const price = optionalObjectAt(token, 'price')
  const logIndex = requiredInt32(entry, 'logIndex')
  const from = partyAt(entry, 'from')
  const to = partyAt(entry, 'to')
  const tokenAddress = requiredLower(token, 'address')
  const decimals = int32At(token, 'decimals')
  const value = requiredU256(entry, 'value')
  return {
    transfer_id: logTransferId(logIndex),
    log_index: logIndex,
    token_address: tokenAddress,
    token_name: textAt(token, 'name'),
    token_symbol: textAt(token, 'symbol'),
    token_decimals: decimals,
    from_address: from.address,
    from_name: from.name,
    to_address: to.address,
    to_name: to.name,
    value,
    amount: shiftDecimal(value, decimals),
    price_currency: textAt(price, 'currencyCode'),
    price_value: decimalAt(price, 'value'),
  }
}

/** The row of an ERC-721 transfer (interface section 2.5). */
export function readErc721(entry: Fields): Cells<'erc721_transfers'> {
  const token = objectAt(entry, 'erc721Token')
  const metadata = optionalObjectAt(token, 'metadata')
  const logIndex = requiredInt32(entry, 'logIndex')
  const from = partyAt(entry, 'from')
  const to = partyAt(entry, 'to')
  const tokenAddress = requiredLower(token, 'address')
  return {
    transfer_id: logTransferId(logIndex),
    log_index: logIndex,
    token_address: tokenAddress,
    token_name: textAt(token, 'name'),
    token_symbol: textAt(token, 'symbol'),
    token_id: requiredU256(token, 'tokenId'),
    token_uri: textAt(token, 'tokenUri'),
    owner_address: lowerAt(token, 'ownerAddress'),
    from_address: from.address,
    from_name: from.name,
    to_address: to.address,
    to_name: to.name,
    metadata_index_status: textAt(metadata, 'indexStatus'),
    metadata_updated_at: timeAt(metadata, 'metadataLastUpdatedTimestamp'),
    metadata_name: textAt(metadata, 'name'),
    metadata_symbol: textAt(metadata, 'symbol'),
    metadata_description: textAt(metadata, 'description'),
    metadata_image_uri: textAt(metadata, 'imageUri'),
    metadata_animation_uri: textAt(metadata, 'animationUri'),
    metadata_external_url: textAt(metadata, 'externalUrl'),
    metadata_background: textAt(metadata, 'background'),
    metadata_attributes: jsonTextAt(metadata, 'attributes'),
  }
}

/**
 * Creates a reader for one view's ERC-1155 entries (interface section 2.6). The order of the entries numbers
 * those of a batch.
 */
export function erc1155Reader(): (entry: Fields) => Cells<'erc1155_transfers'> {
  const seen = new Map<number, number>()
  return (entry) => {
    const logIndex = requiredInt32(entry, 'logIndex')
    const ordinal = seen.get(logIndex) ?? 0
    // Invalid entries count too.
    seen.set(logIndex, ordinal + 1)
    return readErc1155(entry, ordinal)
  }
}

function readErc1155(entry: Fields, ordinal: number): Cells<'erc1155_transfers'> {
  const token = objectAt(entry, 'erc1155Token')
  const metadata = optionalObjectAt(token, 'metadata')
  const logIndex = requiredInt32(entry, 'logIndex')
  const from = partyAt(entry, 'from')
  const to = partyAt(entry, 'to')
  const tokenAddress = requiredLower(token, 'address')
  return {
    transfer_id: logTransferId(logIndex, ordinal),
    log_index: logIndex,
    transfer_ordinal: ordinal,
    token_address: tokenAddress,
    token_id: requiredU256(token, 'tokenId'),
    token_uri: textAt(token, 'tokenUri'),
    from_address: from.address,
    from_name: from.name,
    to_address: to.address,
    to_name: to.name,
    value: requiredU256(entry, 'value'),
    metadata_index_status: textAt(metadata, 'indexStatus'),
    metadata_updated_at: timeAt(metadata, 'metadataLastUpdatedTimestamp'),
    metadata_name: textAt(metadata, 'name'),
    metadata_symbol: textAt(metadata, 'symbol'),
    metadata_description: textAt(metadata, 'description'),
    metadata_image_uri: textAt(metadata, 'imageUri'),
    metadata_animation_uri: textAt(metadata, 'animationUri'),
    metadata_external_url: textAt(metadata, 'externalUrl'),
    metadata_background: textAt(metadata, 'background'),
    metadata_decimals: int32At(metadata, 'decimals'),
    metadata_properties: jsonTextAt(metadata, 'properties'),
  }
}

/**
 * A party of a transaction (interface section 2.1), reduced to the columns of the tables. An empty address
 * means none.
 */
type Party = { address: string | null; name: string | null }

/**
 * Throws RejectError if the party is not an object or its address is not text, because the counterparties of
 * a transfer must be known.
 */
export function partyAt(from: Fields, name: string): Party {
  const party = objectAt(from, name)
  const { address = null } = party
  const isEmpty = address === null || address === ''
  return { address: isEmpty ? null : requiredLower(party, 'address'), name: textAt(party, 'name') }
}

/**
 * Reads a decimal number, given as text or as a JSON number, as exact digits without an exponent; null if
 * there is none.
 */
export function decimalAt(from: Fields, name: string): string | null {
  const value = from[name]
  const text = typeof value === 'number' ? String(value) : value
  const parts = typeof text === 'string' ? /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text) : null
  if (parts === null) return null
  const [, sign = '', integer = '', fraction = '', exponent = '0'] = parts
  return plain({ sign, digits: integer + fraction, point: integer.length + Number(exponent) })
}

function plain({ sign, digits, point: pointIndex }: { sign: string; digits: string; point: number }): string {
  const padded = pointIndex <= 0 ? '0'.repeat(1 - pointIndex) + digits : digits.padEnd(pointIndex, '0')
  const at = Math.max(1, pointIndex)
  const integer = padded.slice(0, at).replace(/^0+(?=\d)/, '')
  const fraction = trimZeros(padded.slice(at))
  if (integer === '0' && fraction === '') return '0'
  return sign + (fraction === '' ? integer : `${integer}.${fraction}`)
}
