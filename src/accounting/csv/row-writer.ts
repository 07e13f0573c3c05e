import { isNft } from '../../core/model/asset.ts'
import { csvRows } from '../../core/platform/csv-rows.ts'
import { memoizeLast } from '../../core/platform/memoize-last.ts'
import { formatAmount, rejectedPriceReason, unformattableReason } from '../format-amount.ts'
import type { ImportRow, Leg } from '../import-rows.ts'
import { type Asset, type Movement, type Omitted, toOmitted, toRounded } from '../movement.ts'
import { coinIdOf } from '../names/names.ts'
import type { RefusalReasonOf } from '../precision-limits.ts'
import { type Amounts, assetNameOf, CELLS, type CellContext, formatInstant, priceOfRow } from './cells.ts'
import { headersOf, isCompared, type Role } from './preset.ts'
import type { Accounts, Remainders } from './remainders.ts'

/** Formats the rows of one file. */
export type RowWriter = {
  header: string
  /** Whether the format can represent a row. Calls no callbacks. */
  canWrite(row: ImportRow): boolean
  /** Returns the cells of a row that the program compares to find duplicates; undefined if the format cannot represent it. Calls no callbacks. */
  comparedCells(row: ImportRow): string | undefined
  /**
   * Returns the row with its amounts rounded to the decimals of the format, and counts them in the remainders of its wallet.
   * Rows that the format cannot represent stay as they are. Call it once per row, in the order of the file.
   *
   * @param onRounded - receives each difference, unless the whole amount is rounded to zero, which `write` reports
   */
  round(row: ImportRow, onRounded: (omitted: Omitted) => void): ImportRow
  /** Returns the row as a CSV line. If the format cannot represent it, reports it to `onOmitted` and returns undefined. */
  write(row: ImportRow): string | undefined
}

type RowWriterOptions = Omit<CellContext, 'instant'> & {
  /** The symbol of the coin, for headers. */
  coin: string | undefined
  refusalReasonOf: RefusalReasonOf
  /** Whether each wallet has a file of its own. */
  isPerWallet: boolean
  /** Of all files of the program. */
  remainders: Remainders
  onOmitted: (omitted: Omitted) => void
  /** Called for each amount whose price the format has a column for, but which has no price. */
  onUnpriced: (asset: Asset) => void
}

/** Creates a writer that formats rows as CSV according to a preset. */
export function createRowWriter(options: RowWriterOptions): RowWriter {
  const { preset, prices, coin } = options
  const roles = new Set(preset.columns.map(([, role]) => role))
  const isPriced = [...PRICED].some((role) => roles.has(role))
  const context: RowContext = {
    ...options,
    roles,
    instant: memoizeLast((time) => formatInstant(time, preset.date)),
    priceOf:
      prices && isPriced ? ({ asset }, { chain, time }) => prices.ofChain(chain).at(asset, time) : undefined,
  }
  const cells = preset.columns.map(([, role]) => CELLS[role])
  const comparedCells = preset.columns.flatMap(([, role]) => (isCompared(preset, role) ? [CELLS[role]] : []))
  return {
    header: csvRows([headersOf(preset, prices?.currency, coin)]),
    canWrite: (row) =>
      (!row.isWrap || preset.types.wrap !== undefined) && formatRow(row, context).reason === undefined,
    comparedCells: (row) => {
      const { amounts, reason } = formatRow(row, context)
      return reason === undefined
        ? comparedCells.map((cell) => cell(row, amounts, context)).join()
        : undefined
    },
    round: (row, onRounded) => {
      const { reason } = formatRow(row, context)
      return reason === undefined || reason === ZERO ? roundRow(row, context, onRounded) : row
    },
    write: (row) => {
      const { amounts, reason, unpriced } = formatRow(row, context)
      for (const asset of unpriced) options.onUnpriced(asset)
      if (reason !== undefined) {
        for (const movement of row.movements) options.onOmitted(toOmitted(movement, reason))
        return undefined
      }
      let text = ''
      for (let at = 0; at < cells.length; at += 1)
        text += (at === 0 ? '' : ',') + cells[at]?.(row, amounts, context)
      return `${text}\n`
    },
  }
}

const PRICED: ReadonlySet<Role> = new Set(['worth', 'inWorth', 'outWorth', 'feeWorth', 'price'])

type RowContext = RowWriterOptions &
  CellContext & {
    roles: ReadonlySet<Role>
    /** undefined if the user gave no prices, or the format has no column for them. */
    priceOf: ((leg: Leg, movement: Movement) => string | undefined) | undefined
  }

/** The result of formatting the amounts of a row. */
type FormattedRow = {
  amounts: Amounts
  /** Why the row cannot be written; undefined if it can. */
  reason: string | undefined
  /** Assets without a price, if the format has a column for it. */
  unpriced: Asset[]
}

/** The reason of a row with an amount that is zero in the file. */
const ZERO = 'zero within the decimals of the format'

const NO_AMOUNTS: Amounts = {
  in: '',
  out: '',
  fee: '',
  inPrice: undefined,
  outPrice: undefined,
  feePrice: undefined,
}

const LEGS = ['in', 'out', 'fee'] as const

/** Formats the amounts of a row, up to the first that cannot be represented. Calls no callbacks. */
function formatRow(row: ImportRow, context: RowContext): FormattedRow {
  const amounts: Amounts = { ...NO_AMOUNTS }
  const result: FormattedRow = { amounts, reason: undefined, unpriced: [] }
  let isZero = false
  for (const direction of LEGS) {
    const leg = row[direction]
    if (leg === undefined) continue
    const formatted = formatLeg(leg, row.movements[0].chain, context)
    if ('reason' in formatted) return { ...result, ...formatted }
    const isNothing = !/[1-9]/.test(formatted.text)
    if (direction === 'fee' && isNothing) continue
    amounts[direction] = formatted.text
    isZero ||= isNothing
    if (context.priceOf === undefined || (direction === 'fee' && !context.roles.has('feeWorth'))) continue
    const price = context.priceOf(leg, row.movements[0])
    amounts[`${direction}Price`] = price
    if (price === undefined && !isNft(leg.asset)) result.unpriced.push(leg.asset)
  }
  const { needsPrices, numbers } = context.preset
  if (needsPrices) result.reason = rejectedPriceReason(priceOfRow(row, amounts), numbers)
  if (isZero) result.reason ??= ZERO
  return result
}

/** Formats an amount, or returns the reason why the format cannot represent it. */
function formatLeg(
  { asset, value }: Leg,
  chain: string,
  { preset, refusalReasonOf }: RowContext,
): { text: string } | { reason: string } {
  const { name, supportsNfts, coinIds, numbers } = preset
  if (isNft(asset) && !supportsNfts) return { reason: 'the format has no NFTs' }
  if (asset.type === 'erc1155' && supportsNfts === 'erc721')
    return { reason: `${name} has no ERC-1155 tokens` }
  if (coinIds !== undefined && asset.address === null && coinIdOf(asset, chain, coinIds) === undefined)
    return {
      reason: `${name} has no asset for the coin of chain ${chain}; name one with --tickers (contract native)`,
    }
  const refusal = refusalReasonOf(asset)
  if (refusal !== undefined) return { reason: refusal }
  const text = formatAmount(value, asset.decimals, numbers)
  return text === undefined ? { reason: unformattableReason(asset.decimals, numbers) } : { text }
}

/** The accounts of the amounts of a row, as the program sees them: a single one if neither a column nor a file names the wallet. */
function accountsOf(row: ImportRow, context: RowContext): Readonly<Record<(typeof LEGS)[number], Accounts>> {
  const { roles, isPerWallet } = context
  const cell = (role: 'wallet' | 'fromWallet' | 'toWallet') => CELLS[role](row, NO_AMOUNTS, context)
  if (roles.has('fromWallet')) {
    const both = { from: cell('fromWallet'), to: cell('toWallet') }
    return { in: both, out: both, fee: both }
  }
  const account = roles.has('wallet') ? cell('wallet') : isPerWallet ? row.movements[0].wallet : ''
  return { in: { to: account }, out: { from: account }, fee: { from: account } }
}

/** Rounds the amounts of a row that the format can represent. */
function roundRow(row: ImportRow, context: RowContext, onRounded: (omitted: Omitted) => void): ImportRow {
  const { remainders } = context
  const accounts = accountsOf(row, context)
  let rounded = row
  for (const direction of LEGS) {
    const leg = row[direction]
    if (leg === undefined || (direction === 'fee' && row.isFeeIncluded)) continue
    const value = remainders.round(leg, { asset: assetNameOf(leg, row, context), ...accounts[direction] })
    if (value === leg.value) continue
    rounded = { ...rounded, [direction]: { asset: leg.asset, value } }
    // A row is not written if its amount is zero, but it is if its fee is.
    if (value === 0n && direction !== 'fee') continue
    const movement = row.movements.find(({ asset }) => asset.address === leg.asset.address)
    onRounded(toRounded(movement ?? row.movements[0], leg.value - value, direction !== 'in'))
  }
  return rounded
}
