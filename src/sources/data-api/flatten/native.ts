import { evmIdOf, paysGasOnly } from '../../../core/model/chains.ts'
import { BLOB_TYPE, feeOf } from '../../../core/model/fees.ts'
import type { ItemKey } from '../../../core/model/item-key.ts'
import type { Cells, Prefix } from '../../../core/table/index.ts'
import {
  type Fields,
  int32At,
  int64At,
  lowerAt,
  optionalObjectAt,
  RejectError,
  requiredLower,
  requiredU256,
  textAt,
  u256At,
} from '../../fields.ts'
import type { Native } from '../../view.ts'
import { keyOfItem } from '../parse-item-key.ts'
import { partyAt } from './party.ts'

/**
 * Reads a native transaction (interface section 2.2). Other invalid fields become null (CONTRACT section 2.3).
 *
 * @param chain the requested chain. Rows contain its EVM id, however the item spells it; if it is unknown,
 *   the item's id
 * @throws RejectError if the position in the chain, a party or the value is missing or invalid
 */
export function readNative(native: Fields, chain: string): Native {
  const key = keyOfItem({ nativeTransaction: native }, chain)
  if (typeof key === 'string') throw new RejectError(key)
  const method = optionalObjectAt(native, 'method')
  const status = textAt(native, 'txStatus')
  const gasUsed = int64At(native, 'gasUsed')
  const gasPrice = u256At(native, 'gasPrice')
  const prefix = readPrefix(native, key, chain)
  const type = int32At(native, 'txType')
  const nonce = int64At(native, 'nonce')
  const from = partyAt(native, 'from')
  const to = partyAt(native, 'to')
  const fee = feeOf(gasUsed, gasPrice)
  const row: Cells<'transactions'> = {
    transaction_type: type,
    status,
    success: successOf(status),
    nonce,
    from_address: from.address,
    from_name: from.name,
    to_address: to.address,
    to_name: to.name,
    value: requiredU256(native, 'value'),
    gas_limit: int64At(native, 'gasLimit'),
    gas_used: gasUsed,
    gas_price: gasPrice,
    effective_gas_price: type === null || type > 1 ? null : gasPrice,
    transaction_fee: fee,
    call_type: textAt(method, 'callType'),
    method_id: lowerAt(method, 'methodHash'),
    method_name: textAt(method, 'methodName'),
    block_min_delay_excess: int64At(native, 'blockMinDelayExcess'),
    extra_fee: fee !== null && paysNoExtraFee(type, prefix.chain_id) ? '0' : null,
  }
  return { prefix, row }
}

/** The service serves Avalanche chains, whose ids anyone can choose, and Ethereum: there, only blobs cost more than gas. */
const paysNoExtraFee = (type: number | null, chain: string) =>
  type !== BLOB_TYPE && paysGasOnly(chain) !== false

function readPrefix(native: Fields, { block, timeMs, hash, index }: ItemKey, chain: string): Prefix {
  return {
    chain_id: evmIdOf(chain) ?? evmIdOf(native.chainId) ?? textAt(native, 'chainId') ?? chain,
    block_number: block,
    block_hash: requiredLower(native, 'blockHash'),
    block_timestamp: timeMs,
    transaction_hash: hash,
    transaction_index: index,
  }
}

/** Whether a transaction with this status succeeded (CONTRACT section 2.3); null for an unknown status. */
function successOf(status: string | null): boolean | null {
  if (status === '1') return true
  const normalized = status?.toLowerCase() ?? ''
  return SUCCESS.has(normalized) ? true : FAILURE.has(normalized) ? false : null
}

const SUCCESS: ReadonlySet<string> = new Set(['1', '0x1', 'true', 'success'])
const FAILURE: ReadonlySet<string> = new Set(['0', '0x0', 'false', 'failed', 'failure', 'error'])
