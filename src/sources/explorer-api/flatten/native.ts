import { evmIdOf, paysGasOnly } from '../../../core/model/chains.ts'
import { BLOB_TYPE } from '../../../core/model/fees.ts'
import { type ItemKey, UNKNOWN_INDEX } from '../../../core/model/item-key.ts'
import type { Cells, Prefix } from '../../../core/table/index.ts'
import {
  boolAt,
  type Fields,
  int32At,
  int64At,
  isAbsent,
  lowerAt,
  requiredLower,
  requiredU256,
  textAt,
  U256,
  u256At,
} from '../../fields.ts'
import type { Native } from '../../view.ts'
import { type Item, positionRecordOf } from '../item.ts'

/**
 * Reads the transaction of an item. Without a record of its own, it is known in part: its transfers state its block and
 * gas, its internal transactions only its block number.
 *
 * @throws RejectError if the sender or the value of a record is missing or invalid
 */
export function readNative(item: Item, key: ItemKey, chain: string): Native {
  const { normal } = item
  const position = positionRecordOf(item) ?? {}
  const prefix: Prefix = {
    chain_id: evmIdOf(chain) ?? chain,
    block_number: key.block,
    block_hash: lowerAt(position, 'blockHash'),
    block_timestamp: key.timeMs,
    transaction_hash: key.hash,
    transaction_index: key.index === UNKNOWN_INDEX ? null : key.index,
  }
  const row = { ...UNKNOWN, ...sharedColumns(position, chain) }
  if (normal === null) return { prefix, row, isPartial: true }
  const own = isCreation(normal) ? { ...ownColumns(normal), method_id: null } : ownColumns(normal)
  return { prefix, row: { ...row, ...own } }
}

/** Columns that explorers do not state, or only in the record of the transaction itself. */
const UNKNOWN = {
  status: null,
  success: null,
  from_address: null,
  from_name: null,
  to_address: null,
  to_name: null,
  value: null,
  call_type: null,
  block_min_delay_excess: null,
} satisfies Partial<Cells<'transactions'>>

/** The columns that transfers state too. */
function sharedColumns(record: Fields, chain: string) {
  const price = u256At(record, 'gasPrice')
  const used = int64At(record, 'gasUsed')
  const type = int32At(record, 'type')
  const extra = extraFeeOf(record, type, chain)
  const fee = feeOf({ used, price, extra: extra ?? '0' })
  return {
    transaction_type: type,
    nonce: int64At(record, 'nonce'),
    gas_limit: int64At(record, 'gas'),
    gas_used: used,
    gas_price: price,
    effective_gas_price: price,
    transaction_fee: fee,
    extra_fee: fee === null ? null : extra,
    method_id: methodIdAt(record),
    method_name: textAt(record, 'functionName'),
  }
}

/**
 * The selector. Blockscout states `0x` for calls of some chains, and older instances state nothing: the input begins with it.
 */
function methodIdAt(record: Fields): string | null {
  const stated = lowerAt(record, 'methodId') ?? '0x'
  if (stated !== '0x') return stated.startsWith('0x') ? stated : `0x${stated}`
  return SELECTOR.exec(lowerAt(record, 'input') ?? '')?.[0] ?? null
}

const SELECTOR = /^0x[\da-f]{8}/

/** A creation calls no method: what explorers show as its selector is the beginning of the code. */
const isCreation = (record: Fields) => isAbsent(record, 'to')

function ownColumns(record: Fields) {
  const succeeded = succeededAt(record)
  return {
    status: textAt(record, 'txreceipt_status') ?? (succeeded === null ? null : succeeded ? '1' : '0'),
    success: succeeded,
    from_address: requiredLower(record, 'from'),
    to_address: lowerAt(record, 'to') ?? lowerAt(record, 'contractAddress'),
    value: requiredU256(record, 'value'),
  }
}

/** Before Byzantium, a receipt had no status, but explorers know whether the transaction failed. */
function succeededAt(record: Fields): boolean | null {
  const status = boolAt(record, 'txreceipt_status')
  const isError = boolAt(record, 'isError')
  return status ?? (isError === undefined ? null : !isError)
}

/**
 * The part of the fee beyond gas: what rollups of the OP Stack charge for publishing on L1. Null if the transaction may pay
 * such a part, and the record does not state it; no explorer states the fee for blobs.
 */
function extraFeeOf(record: Fields, type: number | null, chain: string): string | null {
  return type === BLOB_TYPE ? null : (u256At(record, 'L1FeesPaid') ?? (paysGasOnly(chain) ? '0' : null))
}

type FeeParts = { used: number | string | null; price: string | null; extra: string }

/** gas used × gas price + extra, as exact digits; null if one of them is unknown or the sum exceeds 256 bits. */
function feeOf({ used, price, extra }: FeeParts): string | null {
  if (used === null || price === null || Number(used) < 0) return null
  const fee = BigInt(used) * BigInt(price) + BigInt(extra)
  return fee > U256.max ? null : fee.toString()
}
