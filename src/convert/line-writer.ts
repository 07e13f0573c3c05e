import { isNft } from '../core/asset.ts'
import { csvLine } from '../core/csv-text.ts'
import { type Amounts, CELLS, type CellContext } from './cells.ts'
import { type HeaderWords, headersOf } from './headers.ts'
import { instantWriter } from './instant.ts'
import type { Line, Side } from './lines.ts'
import type { Asset, Movement } from './movement.ts'
import { type Written, whyUnwritten, writeAmount } from './plain-number.ts'
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
  /** The text of a line with its end; undefined where the format cannot hold it. */
  write(line: Line): string | undefined
}

export type WriterOptions = Omit<CellContext, 'instant'> &
  Pick<HeaderWords, 'coin'> & {
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
    write: (line) => {
      const amounts = writeAmounts(line, writing)
      if (amounts === undefined) return undefined
      let text = ''
      for (let at = 0; at < cells.length; at += 1)
        text += (at === 0 ? '' : ',') + cells[at]?.(line, amounts, context)
      return `${text}\n`
    },
  }
}

const PRICED: ReadonlySet<Role> = new Set(['worth', 'inWorth', 'outWorth', 'feeWorth', 'price'])

/** The price of a side, where the format has a column for it and the user has given prices. */
function priceReader({ preset, prices, onUnpriced }: WriterOptions) {
  if (prices === undefined || !preset.columns.some(([, role]) => PRICED.has(role))) return () => undefined
  return ({ asset }: Side, { time }: Movement) => {
    const price = prices.at(asset, time)
    if (price === undefined && !isNft(asset)) onUnpriced(asset)
    return price
  }
}

type Writing = WriterOptions & { priceOf: (side: Side, movement: Movement) => string | undefined }

/** The amounts of a line; undefined, and told, where one of them cannot be written. What is cut off is told too. */
function writeAmounts(line: Line, writing: Writing): Amounts | undefined {
  const amounts: Amounts = { in: '', out: '', fee: '', inPrice: undefined, outPrice: undefined }
  let cuts: Omitted[] | undefined
  for (const way of ['in', 'out', 'fee'] as const) {
    const side = line[way]
    if (side === undefined) continue
    const written = writeSide(side, writing)
    if (typeof written === 'string') return omitLine(line, written, writing)
    amounts[way] = written.text
    if (written.cut !== 0n) cuts = [...(cuts ?? []), cutOff(line, { side, written, isOut: way !== 'in' })]
    if (way !== 'fee') amounts[`${way}Price`] = writing.priceOf(side, line.movements[0])
  }
  if (writing.preset.needsPrices && !isPriced(line, amounts))
    return omitLine(line, 'there is no price', writing)
  for (const cut of cuts ?? []) writing.onOmitted(cut)
  return amounts
}

const isPriced = (line: Line, { inPrice, outPrice }: Amounts) =>
  /[1-9]/.test((line.in === undefined ? outPrice : inPrice) ?? '')

function omitLine({ movements }: Line, reason: string, { onOmitted }: WriterOptions): undefined {
  for (const movement of movements) onOmitted(omitted(movement, reason))
}

/** An amount as the format has it, or why it has none. */
function writeSide({ asset, value }: Side, { preset: { holdsNfts, numbers } }: Writing): Written | string {
  if (isNft(asset) && !holdsNfts) return 'the format has no NFTs'
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
