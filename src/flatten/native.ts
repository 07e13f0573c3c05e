import { keyOfItem } from '../core/item-key.ts'
import type { Cell } from '../core/table/index.ts'
import {
  type Fields,
  int32At,
  int64At,
  lowerAt,
  objectAt,
  RejectError,
  requiredLower,
  requiredU256,
  textAt,
  u256At,
} from './fields.ts'
import { type Party, partyAt } from './party.ts'

/** A native transaction (interface section 2.2) with every field checked. */
export type Native = {
  chainId: string | null
  blockNumber: number
  blockHash: string
  timeMs: number
  hash: string
  index: number
  type: number | null
  status: string | null
  success: boolean | null
  nonce: Cell
  from: Party
  to: Party
  value: string
  gasLimit: Cell
  gasUsed: Cell
  gasPrice: string | null
  /** gas used × gas price, exact digits. */
  fee: string | null
  callType: string | null
  methodId: string | null
  methodName: string | null
  minDelayExcess: Cell
}

/** Throws RejectError where a promised field is missing or does not fit its column. */
export function readNative(native: Fields): Native {
  const key = keyOfItem({ nativeTransaction: native })
  if (typeof key === 'string') throw new RejectError(key)
  const method = objectAt(native, 'method')
  const status = textAt(native, 'txStatus')
  const gasUsed = int64At(native, 'gasUsed')
  const gasPrice = u256At(native, 'gasPrice')
  return {
    chainId: textAt(native, 'chainId'),
    blockNumber: key.block,
    blockHash: requiredLower(native, 'blockHash'),
    timeMs: key.timeMs,
    hash: key.hash.toWellFormed(),
    index: key.index,
    type: int32At(native, 'txType'),
    status,
    success: status === '1' ? true : status === '0' ? false : null,
    nonce: int64At(native, 'nonce'),
    from: partyAt(native, 'from'),
    to: partyAt(native, 'to'),
    value: requiredU256(native, 'value'),
    gasLimit: int64At(native, 'gasLimit'),
    gasUsed,
    gasPrice,
    fee: feeOf(gasUsed, gasPrice),
    callType: textAt(method, 'callType'),
    methodId: lowerAt(method, 'methodHash'),
    methodName: textAt(method, 'methodName'),
    minDelayExcess: int64At(native, 'blockMinDelayExcess'),
  }
}

const MAX_U256 = 2n ** 256n - 1n

function feeOf(gasUsed: number | string | null, gasPrice: string | null): string | null {
  if (gasUsed === null || gasPrice === null) return null
  const small = Number(gasUsed) * Number(gasPrice)
  if (small >= 0 && small <= Number.MAX_SAFE_INTEGER) return String(small)
  const fee = BigInt(gasUsed) * BigInt(gasPrice)
  if (fee < 0n || fee > MAX_U256) throw new RejectError('gasUsed × gasPrice does not fit 256 bits')
  return fee.toString()
}
