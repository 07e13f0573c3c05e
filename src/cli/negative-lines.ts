import { wholeUnits } from '../accounting/statement/statement-rows.ts'
import { isNft } from '../core/model/asset.ts'
import type { Balance, NegativeBalance } from '../ledger/balances/balances.ts'
import { formatCount } from '../terminal/format.ts'
import { oneLine } from '../terminal/log.ts'

/** Maximum number of negative balances that are listed. */
const MAX_REPORTED = 20

/** Describes balances that were negative after a transaction, with the likely causes. */
export function negativeLines(belowZero: readonly NegativeBalance[]): string[] {
  const remaining = belowZero.length - MAX_REPORTED
  return [
    ...belowZero.slice(0, MAX_REPORTED).map(negativeLine),
    ...(remaining > 0 ? [`and ${formatCount(remaining, 'balance')} more were below zero`] : []),
  ]
}

function negativeLine(negative: NegativeBalance): string {
  const { wallet_label, wallet_address, block_number, transaction_hash, causes } = negative
  const location = `after transaction ${transaction_hash} in block ${block_number}`
  const listed = causes.length === 1 ? causes[0] : causes.map((cause, at) => `${at + 1}. ${cause}`).join('; ')
  const likely = causes.length === 1 ? '' : 'likely causes, the likeliest first: '
  return `${wallet_label ?? wallet_address}: ${assetLabel(negative)} was below zero (${amountThen(negative)}) ${location}: ${likely}${listed}`
}

function amountThen({ value_then, asset_symbol, ...asset }: NegativeBalance): string {
  const amount = wholeUnits(value_then, asset)
  if (amount === null) return `${value_then} in the smallest unit`
  return isNft({ type: asset.asset_type }) || asset_symbol === null
    ? amount
    : `${amount} ${oneLine(asset_symbol)}`
}

function assetLabel({ asset_symbol, asset_type, asset_address, token_id }: Balance): string {
  const id = token_id === null ? '' : ` #${token_id}`
  const contract = asset_address === null ? '' : ` (${asset_address})`
  return `${oneLine(asset_symbol ?? asset_type)}${id}${contract}`
}
