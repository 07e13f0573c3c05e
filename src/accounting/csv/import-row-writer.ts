import { isNft } from '../../core/model/asset.ts'
import { csvRows } from '../../core/platform/csv-rows.ts'
import {
  type FormattedAmount,
  formatAmount,
  rejectedPriceReason,
  unformattableReason,
} from '../format-amount.ts'
import type { ImportRow, Leg } from '../import-rows.ts'
import type { Asset, Movement } from '../movement.ts'
import { coinIdOf } from '../names/asset-name.ts'
import type { RefusalReasonOf } from '../precision-limits.ts'
import { type Amounts, CELLS, type CellContext, priceOfRow } from './cells.ts'
import { type HeaderValues, headersOf } from './headers.ts'
import { createInstantFormatter } from './instant.ts'
import { isCompared, type Role } from './preset.ts'

/** A movement, or a part of its amount, that is missing from the output file. */
export type Omitted = {
  movement: Movement
  /** The missing amount in the asset's smallest unit; negative if it was sent. */
  value: bigint
  reason: string
}

/** Describes a movement that is omitted completely. */
export function toOmitted(movement: Movement, reason: string): Omitted {
  return { movement, value: movement.isOut ? -movement.value : movement.value, reason }
}

export type ImportRowWriter = {
  header: string
  /** Whether the format can represent a row. Calls no callbacks. */
  canWrite(row: ImportRow): boolean
  /** Returns the cells of a row that the program compares to find duplicates; undefined if the format cannot represent it. Calls no callbacks. */
  comparedCells(row: ImportRow): string | undefined
  /** Returns the row as a CSV line. If the format cannot represent it, reports it to `onOmitted` and returns undefined. */
  write(row: ImportRow): string | undefined
}

export type WriterOptions = Omit<CellContext, 'instant'> &
  Pick<HeaderValues, 'coin'> & {
    refusalReasonOf: RefusalReasonOf
    onOmitted: (omitted: Omitted) => void
    /** Called for each amount whose price the format has a column for, but which has no price. */
    onUnpriced: (asset: Asset) => void
  }

/** Creates a writer that formats rows as CSV according to a preset. */
export function createImportRowWriter(options: WriterOptions): ImportRowWriter {
  const { preset, prices, coin } = options
  const context = { ...options, instant: createInstantFormatter(preset.date) }
  const writing = { ...options, priceOf: createPriceLookup(options) }
  const cells = preset.columns.map(([, role]) => CELLS[role])
  const comparedCells = preset.columns.flatMap(([, role]) => (isCompared(preset, role) ? [CELLS[role]] : []))
  return {
    header: csvRows([headersOf(preset, { currency: prices?.currency, coin })]),
    canWrite: (row) =>
      (!row.isWrap || preset.types.wrap !== undefined) && formatRow(row, writing).reason === undefined,
    comparedCells: (row) => {
      const { amounts, reason } = formatRow(row, writing)
      return reason === undefined
        ? comparedCells.map((cell) => cell(row, amounts, context)).join()
        : undefined
    },
    write: (row) => {
      const { amounts, reason, truncations, unpriced } = formatRow(row, writing)
      for (const asset of unpriced ?? []) options.onUnpriced(asset)
      if (reason !== undefined) return omitRow(row, reason, options)
      for (const truncated of truncations ?? []) options.onOmitted(truncated)
      let text = ''
      for (let at = 0; at < cells.length; at += 1)
        text += (at === 0 ? '' : ',') + cells[at]?.(row, amounts, context)
      return `${text}\n`
    },
  }
}

const PRICED: ReadonlySet<Role> = new Set(['worth', 'inWorth', 'outWorth', 'feeWorth', 'price'])

/** Returns the price look-up for legs, or undefined if the user gave no prices or the format has no column for them. */
function createPriceLookup({ preset, prices }: WriterOptions) {
  if (prices === undefined || !preset.columns.some(([, role]) => PRICED.has(role))) return undefined
  return ({ asset }: Leg, { chain, time }: Movement) => prices.ofChain(chain).at(asset, time)
}

type ImportRowContext = WriterOptions & { priceOf: ReturnType<typeof createPriceLookup> }

/** The result of formatting the amounts of a row. */
type FormattedRow = {
  amounts: Amounts
  /** Why the row cannot be written; undefined if it can. */
  reason: string | undefined
  /** Amounts that are cut off because the format has fewer decimals. */
  truncations: Omitted[] | undefined
  /** Assets without a price, if the format has a column for it. */
  unpriced: Asset[] | undefined
}

/** Formats the amounts of a row, up to the first that cannot be represented. Calls no callbacks. */
function formatRow(row: ImportRow, context: ImportRowContext): FormattedRow {
  const amounts: Amounts = { in: '', out: '', fee: '', inPrice: undefined, outPrice: undefined }
  const result: FormattedRow = { amounts, reason: undefined, truncations: undefined, unpriced: undefined }
  for (const direction of ['in', 'out', 'fee'] as const) {
    const leg = row[direction]
    if (leg === undefined) continue
    const formatted = formatLeg(leg, row.movements[0].chain, context)
    if (typeof formatted === 'string') return { ...result, reason: formatted }
    amounts[direction] = formatted.text
    if (formatted.remainder !== 0n)
      result.truncations = [
        ...(result.truncations ?? []),
        truncation(row, { leg, formatted, isOut: direction !== 'in' }),
      ]
    if (direction === 'fee' || context.priceOf === undefined) continue
    const price = context.priceOf(leg, row.movements[0])
    amounts[`${direction}Price`] = price
    if (price === undefined && !isNft(leg.asset)) result.unpriced = [...(result.unpriced ?? []), leg.asset]
  }
  const { needsPrices, numbers } = context.preset
  if (needsPrices) result.reason = rejectedPriceReason(priceOfRow(row, amounts), numbers)
  return result
}

function omitRow({ movements }: ImportRow, reason: string, { onOmitted }: WriterOptions): undefined {
  for (const movement of movements) onOmitted(toOmitted(movement, reason))
}

/** Formats an amount, or returns the reason why the format cannot represent it. */
function formatLeg(
  { asset, value }: Leg,
  chain: string,
  { preset, refusalReasonOf }: ImportRowContext,
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

function truncation(
  { movements }: ImportRow,
  { leg, formatted, isOut }: { leg: Leg; formatted: FormattedAmount; isOut: boolean },
): Omitted {
  const source = movements.find(({ asset }) => asset.address === leg.asset.address) ?? movements[0]
  return {
    movement: source,
    value: isOut ? -formatted.remainder : formatted.remainder,
    reason: 'cut off beyond the decimals',
  }
}
