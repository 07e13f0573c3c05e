import { isNft } from '../../core/model/asset.ts'
import { csvLine } from '../../core/platform/csv-text.ts'
import { type Written, whyUnwritten, writeAmount } from '../format-amount.ts'
import type { Line, Side } from '../import-rows.ts'
import type { Asset, Movement } from '../movement.ts'
import type { Refuses } from '../precision-limits.ts'
import { type Amounts, CELLS, type CellContext, priceOfLine } from './cells.ts'
import { type HeaderWords, headersOf } from './headers.ts'
import { instantWriter } from './instant.ts'
import type { Role } from './preset.ts'

/** A movement, or a part of one, that a file does not hold. */
export type Omitted = {
  movement: Movement
  /** In the asset's smallest unit, negative where it went out. */
  value: bigint
  reason: string
}

/** A movement that is left out whole. */
export function omitted(movement: Movement, reason: string): Omitted {
  return { movement, value: movement.isOut ? -movement.value : movement.value, reason }
}

export type LineWriter = {
  header: string
  /** Whether the format can hold a line; nothing is told of it. */
  holds(line: Line): boolean
  /** The text of a line with its end; undefined, and told, where the format cannot hold it. */
  write(line: Line): string | undefined
}

export type WriterOptions = Omit<CellContext, 'instant'> &
  Pick<HeaderWords, 'coin'> & {
    refuses: Refuses
    onOmitted: (omitted: Omitted) => void
    /** Told of each side of a line that would have its price in the file, and has none. */
    onUnpriced: (asset: Asset) => void
  }

/** Turns lines into CSV as a preset has it. */
export function createLineWriter(options: WriterOptions): LineWriter {
  const { preset, prices, coin } = options
  const context = { ...options, instant: instantWriter(preset.date) }
  const writing = { ...options, priceOf: priceReader(options) }
  const cells = preset.columns.map(([, role]) => CELLS[role])
  return {
    header: csvLine(headersOf(preset, { currency: prices?.currency, coin })),
    holds: (line) => attempt(line, writing).reason === undefined,
    write: (line) => {
      const { amounts, reason, cuts, unpriced } = attempt(line, writing)
      for (const asset of unpriced ?? []) options.onUnpriced(asset)
      if (reason !== undefined) return omitLine(line, reason, options)
      for (const cut of cuts ?? []) options.onOmitted(cut)
      let text = ''
      for (let at = 0; at < cells.length; at += 1)
        text += (at === 0 ? '' : ',') + cells[at]?.(line, amounts, context)
      return `${text}\n`
    },
  }
}

const PRICED: ReadonlySet<Role> = new Set(['worth', 'inWorth', 'outWorth', 'feeWorth', 'price'])

/** Finds the price of a side; undefined where the format has no column for it, or the user has given no prices. */
function priceReader({ preset, prices }: WriterOptions) {
  if (prices === undefined || !preset.columns.some(([, role]) => PRICED.has(role))) return undefined
  return ({ asset }: Side, { time }: Movement) => prices.at(asset, time)
}

type Writing = WriterOptions & { priceOf: ReturnType<typeof priceReader> }

/** What became of the amounts of a line. */
type Attempt = {
  amounts: Amounts
  /** Why one of them cannot be written; undefined where all can. */
  reason: string | undefined
  /** What is cut off. */
  cuts: Omitted[] | undefined
  /** Assets that would have their price in the file, and have none. */
  unpriced: Asset[] | undefined
}

/** Writes the amounts of a line, up to the first that cannot be written; tells nobody. */
function attempt(line: Line, writing: Writing): Attempt {
  const amounts: Amounts = { in: '', out: '', fee: '', inPrice: undefined, outPrice: undefined }
  const done: Attempt = { amounts, reason: undefined, cuts: undefined, unpriced: undefined }
  for (const way of ['in', 'out', 'fee'] as const) {
    const side = line[way]
    if (side === undefined) continue
    const written = writeSide(side, writing)
    if (typeof written === 'string') return { ...done, reason: written }
    amounts[way] = written.text
    if (written.cut !== 0n)
      done.cuts = [...(done.cuts ?? []), cutOff(line, { side, written, isOut: way !== 'in' })]
    if (way === 'fee' || writing.priceOf === undefined) continue
    const price = writing.priceOf(side, line.movements[0])
    amounts[`${way}Price`] = price
    if (price === undefined && !isNft(side.asset)) done.unpriced = [...(done.unpriced ?? []), side.asset]
  }
  if (writing.preset.needsPrices && !/[1-9]/.test(priceOfLine(line, amounts) ?? ''))
    done.reason = 'there is no price'
  return done
}

function omitLine({ movements }: Line, reason: string, { onOmitted }: WriterOptions): undefined {
  for (const movement of movements) onOmitted(omitted(movement, reason))
}

/** An amount as the format has it, or why it has none. */
function writeSide({ asset, value }: Side, { preset, refuses }: Writing): Written | string {
  const { holdsNfts, numbers } = preset
  if (isNft(asset) && !holdsNfts) return 'the format has no NFTs'
  const refused = refuses(asset)
  if (refused !== undefined) return refused
  const written = writeAmount(value, asset.decimals, numbers)
  if (written !== undefined)
    return /[1-9]/.test(written.text) ? written : 'nothing is left of it within the decimals'
  return whyUnwritten(asset.decimals, numbers)
}

function cutOff(
  { movements }: Line,
  { side, written, isOut }: { side: Side; written: Written; isOut: boolean },
): Omitted {
  const of = movements.find(({ asset }) => asset.address === side.asset.address) ?? movements[0]
  return { movement: of, value: isOut ? -written.cut : written.cut, reason: 'cut off beyond the decimals' }
}
