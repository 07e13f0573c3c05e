import { shiftDecimal } from '../../core/platform/decimal.ts'
import type { Cells } from '../../core/table/index.ts'
import {
  type Fields,
  int32At,
  isAbsent,
  listAt,
  lowerAt,
  RejectError,
  requiredLower,
  requiredU256,
  textAt,
} from '../fields.ts'
import { contentTransferId, logTransferId, type Occurrences } from '../transfer-id.ts'

/** The row of an ERC-20 transfer. */
export function readErc20(record: Fields, occurrences: Occurrences): Cells<'erc20_transfers'> {
  if (isErc721(record)) throw new RejectError(UNKNOWN_QUANTITY)
  const token_address = requiredLower(record, 'contractAddress')
  const from_address = lowerAt(record, 'from')
  const to_address = lowerAt(record, 'to')
  const value = requiredU256(record, 'value')
  const decimals = int32At(record, 'tokenDecimal')
  const log = int32At(record, 'logIndex')
  return {
    transfer_id:
      log === null
        ? contentTransferId({ token_address, from_address, to_address, value }, occurrences)
        : logTransferId(log),
    log_index: log,
    token_address,
    token_name: textAt(record, 'tokenName'),
    token_symbol: textAt(record, 'tokenSymbol'),
    token_decimals: decimals,
    from_address,
    from_name: null,
    to_address,
    to_name: null,
    value,
    amount: shiftDecimal(value, decimals),
    price_currency: null,
    price_value: null,
  }
}

/** Blockscout 6.4 to 7.0 lists an ERC-1155 transfer of a single id without a quantity. */
const UNKNOWN_QUANTITY = 'it states a tokenID and no quantity, and tokennfttx does not list it'

/** The row of an ERC-721 transfer. */
export function readErc721(record: Fields, occurrences: Occurrences): Cells<'erc721_transfers'> {
  const token_address = requiredLower(record, 'contractAddress')
  const from_address = lowerAt(record, 'from')
  const to_address = lowerAt(record, 'to')
  const token_id = requiredU256(record, 'tokenID')
  const log = int32At(record, 'logIndex')
  return {
    transfer_id:
      log === null
        ? contentTransferId({ token_address, from_address, to_address, token_id }, occurrences)
        : logTransferId(log),
    log_index: log,
    token_address,
    token_name: textAt(record, 'tokenName'),
    token_symbol: textAt(record, 'tokenSymbol'),
    token_id,
    token_uri: null,
    owner_address: null,
    from_address,
    from_name: null,
    to_address,
    to_name: null,
    metadata_index_status: null,
    metadata_updated_at: null,
    metadata_name: null,
    metadata_symbol: null,
    metadata_description: null,
    metadata_image_uri: null,
    metadata_animation_uri: null,
    metadata_external_url: null,
    metadata_background: null,
    metadata_attributes: null,
  }
}

/** The rows of an ERC-1155 transfer. A record of older versions of Blockscout is a whole batch. */
export function readErc1155(record: Fields, occurrences: Occurrences): readonly Cells<'erc1155_transfers'>[] {
  const token_address = requiredLower(record, 'contractAddress')
  const from_address = lowerAt(record, 'from')
  const to_address = lowerAt(record, 'to')
  return entriesOf(record).map((entry, ordinal) => {
    const token_id = requiredU256(entry, 'id')
    const value = requiredU256(entry, 'value')
    const log = int32At(record, 'logIndex')
    return {
      transfer_id:
        log === null
          ? contentTransferId({ token_address, from_address, to_address, token_id, value }, occurrences)
          : logTransferId(log, ordinal),
      log_index: log,
      transfer_ordinal: log === null ? null : ordinal,
      token_address,
      token_id,
      token_uri: null,
      from_address,
      from_name: null,
      to_address,
      to_name: null,
      value,
      metadata_index_status: null,
      metadata_updated_at: null,
      metadata_name: null,
      metadata_symbol: null,
      metadata_description: null,
      metadata_image_uri: null,
      metadata_animation_uri: null,
      metadata_external_url: null,
      metadata_background: null,
      metadata_decimals: null,
      metadata_properties: null,
    }
  })
}

/** Whether a record of `tokentx` belongs to another listing: before 9.0.0, Blockscout listed all standards there. */
export const isErc1155 = (record: Fields): boolean => !isAbsent(record, 'tokenIDs')
export const isErc721 = (record: Fields): boolean => !isErc1155(record) && !isAbsent(record, 'tokenID')

/** The ids and quantities of a record. */
function entriesOf(record: Fields): readonly Fields[] {
  if (!isErc1155(record)) return [{ id: record.tokenID, value: record.tokenValue }]
  const [ids, values] = [listAt(record, 'tokenIDs'), listAt(record, 'values')]
  if (ids.length !== values.length) throw new RejectError('tokenIDs and values differ in length')
  return ids.map((id, at) => ({ id, value: values[at] }))
}
