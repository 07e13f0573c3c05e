import { isNft } from '../../core/model/asset.ts'
import { csvLine } from '../../core/platform/csv-text.ts'
import { type FormattedAmount, formatAmount, unformattableReason } from '../format-amount.ts'
import type { ImportRow, Leg } from '../import-rows.ts'
import type { Asset, Movement } from '../movement.ts'
import type { RefusalReasonOf } from '../precision-limits.ts'
import { type Amounts, CELLS, type CellContext, priceOfRow } from './cells.ts'
import { type HeaderValues, headersOf } from './headers.ts'
import { createInstantFormatter } from './instant.ts'
import type { Role } from './preset.ts'

/** A movement, or a part of one, that a file does not hold. */
export type Omitted = {
  movement: Movement
  /** In the asset's smallest unit, negative where it went out. */
  value: bigint
  reason: string
}

/** A movement that is left out whole. */
export function toOmitted(movement: Movement, reason: string): Omitted {
  return { movement, value: movement.isOut ? -movement.value : movement.value, reason }
}

export type ImportRowWriter = {
  header: string
  /** Whether the format can hold a line; nothing is told of it. */
  canWrite(row: ImportRow): boolean
  /** The text of a line with its end; undefined, and told, where the format cannot hold it. */
  write(row: ImportRow): string | undefined
}

export type WriterOptions = Omit<CellContext, 'instant'> &
  Pick<HeaderValues, 'coin'> & {
    refusalReasonOf: RefusalReasonOf
    onOmitted: (omitted: Omitted) => void
    /** Told of each side of a line that would have its price in the file, and has none. */
    onUnpriced: (asset: Asset) => void
  }

/** Turns lines into CSV as a preset has it. */
export function createImportRowWriter(options: WriterOptions): ImportRowWriter {
  const { preset, prices, coin } = options
  const context = { ...options, instant: createInstantFormatter(preset.date) }
  const writing = { ...options, priceOf: createPriceLookup(options) }
  const cells = preset.columns.map(([, role]) => CELLS[role])
  return {
    header: csvLine(headersOf(preset, { currency: prices?.currency, coin })),
    canWrite: (row) => formatRow(row, writing).reason === undefined,
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

/** Finds the price of a side; undefined where the format has no column for it, or the user has given no prices. */
function createPriceLookup({ preset, prices }: WriterOptions) {
  if (prices === undefined || !preset.columns.some(([, role]) => PRICED.has(role))) return undefined
  return ({ asset }: Leg, { time }: Movement) => prices.at(asset, time)
}

type ImportRowContext = WriterOptions & { priceOf: ReturnType<typeof createPriceLookup> }

/** What became of the amounts of a line. */
type FormattedRow = {
  amounts: Amounts
  /** Why one of them cannot be written; undefined where all can. */
  reason: string | undefined
  /** What is cut off. */
  truncations: Omitted[] | undefined
  /** Assets that would have their price in the file, and have none. */
  unpriced: Asset[] | undefined
}

/** Writes the amounts of a line, up to the first that cannot be written; tells nobody. */
function formatRow(row: ImportRow, context: ImportRowContext): FormattedRow {
  const amounts: Amounts = { in: '', out: '', fee: '', inPrice: undefined, outPrice: undefined }
  const result: FormattedRow = { amounts, reason: undefined, truncations: undefined, unpriced: undefined }
  for (const direction of ['in', 'out', 'fee'] as const) {
    const leg = row[direction]
    if (leg === undefined) continue
    const formatted = formatLeg(leg, context)
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
  if (context.preset.needsPrices && !/[1-9]/.test(priceOfRow(row, amounts) ?? ''))
    result.reason = 'there is no price'
  return result
}

function omitRow({ movements }: ImportRow, reason: string, { onOmitted }: WriterOptions): undefined {
  for (const movement of movements) onOmitted(toOmitted(movement, reason))
}

/** An amount as the format has it, or why it has none. */
function formatLeg(
  { asset, value }: Leg,
  { preset, refusalReasonOf }: ImportRowContext,
): FormattedAmount | string {
  const { supportsNfts, numbers } = preset
  if (isNft(asset) && !supportsNfts) return 'the format has no NFTs'
  const refusal = refusalReasonOf(asset)
  if (refusal !== undefined) return refusal
  const formatted = formatAmount(value, asset.decimals, numbers)
  if (formatted !== undefined)
    return /[1-9]/.test(formatted.text) ? formatted : 'nothing is left of it within the decimals'
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
