import { wholeUnits } from '../accounting/statement/statement-rows.ts'
import { findUnmatchedLines, type UnmatchedLines, type UserFiles } from '../accounting/unmatched-lines.ts'
import { isNft } from '../core/model/asset.ts'
import type { AdjustmentFindings } from '../ledger/balances/adjustments.ts'
import type { NegativeBalance } from '../ledger/balances/balances.ts'
import type { OpeningFindings, OpeningOption } from '../ledger/balances/read-opening.ts'
import { formatCount, limitLines } from '../terminal/format.ts'
import { oneLine } from '../terminal/log.ts'
import { openLog } from './options/log.ts'

/** Warns on stderr about lines of the user's files that apply to nothing in the exports. */
export async function warnUnmatched(outputs: readonly string[], files: UserFiles): Promise<void> {
  const log = openLog({})
  for (const unmatched of await findUnmatchedLines(outputs, files)) {
    const { file, count, first, ofOtherChains, lines, overridden } = unmatched
    if (overridden.length > 0) log.warn(overriddenText(file, overridden))
    const others = `not counting ${formatCount(ofOtherChains, 'line')} of other chains`
    if (first !== undefined)
      log.warn(`${unmatchedText(file, count, first)}${ofOtherChains === 0 ? '' : ` (${others})`}`)
    else if (lines > 0 && ofOtherChains === lines) log.info(`all lines of ${file} are of other chains`)
  }
}

function overriddenText(file: string, overridden: UnmatchedLines['overridden']): string {
  const [first] = overridden
  const count = formatCount(overridden.length, 'line')
  const place = `${first?.match} in line ${first?.line}, whose label is ${oneLine(first?.label ?? '')}`
  return `${count} of ${file} ignored, because labels of wallets take precedence: ${overridden.length === 1 ? '' : 'the first is '}${place}`
}

/** States how many lines of a file matched nothing, and the first of them. */
export function unmatchedText(
  file: string,
  count: number,
  first: NonNullable<UnmatchedLines['first']>,
): string {
  const place = `${first.match} in line ${first.line}`
  return `${formatCount(count, 'line')} of ${file} matched nothing: ${count === 1 ? '' : 'the first is '}${place}`
}

/** States how many adjustments of a file count. */
export function adjustmentLines(
  file: string | undefined,
  { rows, ofOtherChains }: AdjustmentFindings,
): string[] {
  if (file === undefined) return []
  const others = ofOtherChains === 0 ? '' : `; ${formatCount(ofOtherChains, 'line')} of other chains: skipped`
  return [`${formatCount(rows, 'adjustment')} of ${file} counted, as declared by you${others}`]
}

/** Warnings about the lines of a file of opening balances. */
export function openingLines(file: OpeningOption, findings: OpeningFindings): string[] {
  if (typeof file !== 'string') return []
  const { unfilled, ofOtherChains, withoutRows } = findings
  const lines = (count: number) => `${formatCount(count, 'line')} of ${file}`
  const assets = limitLines(
    withoutRows,
    MAX_NAMED,
    ({ line, asset: { type, address, tokenId } }) =>
      `${file}:${line}: ${[type, address, tokenId].filter((part) => part !== null).join(' ')}`,
    (more) => `and ${formatCount(more, 'line')} more`,
  )
  return [
    ...unfilledLines(file, unfilled),
    ...(ofOtherChains === 0 ? [] : [`${lines(ofOtherChains)} of other chains: skipped`]),
    ...(assets.length === 0
      ? []
      : [`${lines(withoutRows.length)} of assets that the export has no rows of; they count:`, ...assets]),
  ]
}

/** Maximum number of lines that are named. */
const MAX_NAMED = 5

/** A warning about the lines of a file of balances that were skipped because they have neither an amount nor a value. */
export function unfilledLines(file: string | undefined, count: number): string[] {
  return count === 0 ? [] : [`${formatCount(count, 'line')} of ${file} without an amount or a value: skipped`]
}

/** Maximum number of negative balances that are listed. */
const MAX_REPORTED = 20

/** Describes balances that were negative after a transaction, with the likely causes. */
export function negativeLines(belowZero: readonly NegativeBalance[]): string[] {
  return limitLines(
    belowZero,
    MAX_REPORTED,
    negativeLine,
    (more) => `and ${formatCount(more, 'balance')} more were below zero`,
  )
}

function negativeLine(negative: NegativeBalance): string {
  const { wallet_label, wallet_address, block_number, transaction_hash, causes } = negative
  const { asset_symbol, asset_type, asset_address, token_id } = negative
  const location = `after transaction ${transaction_hash} in block ${block_number}`
  const listed = causes.length === 1 ? causes[0] : causes.map((cause, at) => `${at + 1}. ${cause}`).join('; ')
  const likely = causes.length === 1 ? '' : 'likely causes, the likeliest first: '
  const id = token_id === null ? '' : ` #${token_id}`
  const contract = asset_address === null ? '' : ` (${asset_address})`
  const asset = `${oneLine(asset_symbol ?? asset_type)}${id}${contract}`
  return `${wallet_label ?? wallet_address}: ${asset} was below zero (${amountThen(negative)}) ${location}: ${likely}${listed}`
}

function amountThen({ value_then, asset_symbol, ...asset }: NegativeBalance): string {
  const amount = wholeUnits(value_then, asset)
  if (amount === null) return `${value_then} in the smallest unit`
  return isNft({ type: asset.asset_type }) || asset_symbol === null
    ? amount
    : `${amount} ${oneLine(asset_symbol)}`
}

/** Warning for a period without movements. It names the period that the export covers. */
export function emptyPeriodLine(
  { first, last }: { first: string; last: string },
  { from, until }: { from?: string | undefined; until?: string | undefined },
): string {
  const period = [
    from === undefined ? '' : ` from ${from}`,
    until === undefined ? '' : ` until ${until}`,
  ].join('')
  return `no movement${period}: the export has movements from ${first} to ${last}`
}
