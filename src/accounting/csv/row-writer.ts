import { isNft } from '../../core/model/asset.ts'
import { csvRows } from '../../core/platform/csv-rows.ts'
import { memoizeLast } from '../../core/platform/memoize-last.ts'
import {
  type FormattedAmount,
  formatAmount,
  rejectedPriceReason,
  unformattableReason,
} from '../format-amount.ts'
import type { ImportRow, Leg } from '../import-rows.ts'
import { type Asset, type Movement, type Omitted, toOmitted } from '../movement.ts'
import { coinIdOf } from '../names/names.ts'
import type { RefusalReasonOf } from '../precision-limits.ts'
import { type Amounts, CELLS, type CellContext, formatInstant, priceOfRow } from './cells.ts'
import { headersOf, isCompared, type Role } from './preset.ts'

/** Formats the rows of one file. */
export type RowWriter = {
  header: string
  /** Whether the format can represent a row. Calls no callbacks. */
  canWrite(row: ImportRow): boolean
  /** Returns the cells of a row that the program compares to find duplicates; undefined if the format cannot represent it. Calls no callbacks. */
  comparedCells(row: ImportRow): string | undefined
  /** Returns the row as a CSV line. If the format cannot represent it, reports it to `onOmitted` and returns undefined. */
  write(row: ImportRow): string | undefined
}

type RowWriterOptions = Omit<CellContext, 'instant'> & {
  /** The symbol of the coin, for headers. */
  coin: string | undefined
  refusalReasonOf: RefusalReasonOf
  onOmitted: (omitted: Omitted) => void
  /** Called for each amount whose price the format has a column for, but which has no price. */
  onUnpriced: (asset: Asset) => void
}

/** Creates a writer that formats rows as CSV according to a preset. */
export function createRowWriter(options: RowWriterOptions): RowWriter {
  const { preset, prices, coin } = options
  const isPriced = preset.columns.some(([, role]) => PRICED.has(role))
  const context: RowContext = {
    ...options,
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
    write: (row) => {
      const { amounts, reason, truncations, unpriced } = formatRow(row, context)
      for (const asset of unpriced) options.onUnpriced(asset)
      if (reason !== undefined) {
        for (const movement of row.movements) options.onOmitted(toOmitted(movement, reason))
        return undefined
      }
      for (const truncated of truncations) options.onOmitted(truncated)
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
    /** undefined if the user gave no prices, or the format has no column for them. */
    priceOf: ((leg: Leg, movement: Movement) => string | undefined) | undefined
  }

/** The result of formatting the amounts of a row. */
type FormattedRow = {
  amounts: Amounts
  /** Why the row cannot be written; undefined if it can. */
  reason: string | undefined
  /** Amounts that are cut off because the format has fewer decimals. */
  truncations: Omitted[]
  /** Assets without a price, if the format has a column for it. */
  unpriced: Asset[]
}

/** Formats the amounts of a row, up to the first that cannot be represented. Calls no callbacks. */
function formatRow(row: ImportRow, context: RowContext): FormattedRow {
  const amounts: Amounts = { in: '', out: '', fee: '', inPrice: undefined, outPrice: undefined }
  const result: FormattedRow = { amounts, reason: undefined, truncations: [], unpriced: [] }
  for (const direction of ['in', 'out', 'fee'] as const) {
    const leg = row[direction]
    if (leg === undefined) continue
    const formatted = formatLeg(leg, row.movements[0].chain, context)
    if (typeof formatted === 'string') return { ...result, reason: formatted }
    amounts[direction] = formatted.text
    if (formatted.remainder !== 0n)
      result.truncations.push({
        movement: row.movements.find(({ asset }) => asset.address === leg.asset.address) ?? row.movements[0],
        value: direction === 'in' ? formatted.remainder : -formatted.remainder,
        reason: 'cut off beyond the decimals',
      })
    if (direction === 'fee' || context.priceOf === undefined) continue
    const price = context.priceOf(leg, row.movements[0])
    amounts[`${direction}Price`] = price
    if (price === undefined && !isNft(leg.asset)) result.unpriced.push(leg.asset)
  }
  const { needsPrices, numbers } = context.preset
  if (needsPrices) result.reason = rejectedPriceReason(priceOfRow(row, amounts), numbers)
  return result
}

/** Formats an amount, or returns the reason why the format cannot represent it. */
function formatLeg(
  { asset, value }: Leg,
  chain: string,
  { preset, refusalReasonOf }: RowContext,
): FormattedAmount | string {
  const { name, supportsNfts, coinIds, numbers } = preset
  if (isNft(asset) && !supportsNfts) return 'the format has no NFTs'
  if (asset.type === 'erc1155' && supportsNfts === 'erc721') return `${name} has no ERC-1155 tokens`
  if (coinIds !== undefined && asset.address === null && coinIdOf(asset, chain, coinIds) === undefined)
    return `${name} has no asset for the coin of chain ${chain}; name one with --tickers (contract native)`
  const refusal = refusalReasonOf(asset)
  if (refusal !== undefined) return refusal
  const formatted = formatAmount(value, asset.decimals, numbers)
  if (formatted !== undefined)
    return /[1-9]/.test(formatted.text) ? formatted : 'zero within the decimals of the format'
  return unformattableReason(asset.decimals, numbers)
}
