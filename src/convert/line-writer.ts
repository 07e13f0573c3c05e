import { csvLine } from '../core/csv-text.ts'
import { caipName, safeText, tickerName } from './asset-name.ts'
import { instantWriter } from './instant.ts'
import type { Line, Side } from './lines.ts'
import { type Asset, isNft, type Movement } from './movement.ts'
import { type Written, writeAmount } from './plain-number.ts'
import type { Preset, Role } from './preset.ts'

/** A movement, or a part of one, that a file does not hold. */
export type Omitted = {
  movement: Movement
  /** In the asset's smallest unit, negative where it went out. */
  value: bigint
  reason: string
}

export type LineWriter = {
  header: string
  /** The text of a line with its end; undefined where the format cannot hold it. */
  write(line: Line): string | undefined
}

export type WriterOptions = {
  preset: Preset
  /** What the chain is called, where the user says so. */
  chainName: string | undefined
  /** Names that are kept in a file, for programs that number unknown assets. */
  placeholderOf: (asset: Asset) => string
  onOmitted: (omitted: Omitted) => void
}

/** Turns lines into CSV as a preset has it. */
export function createLineWriter(given: WriterOptions): LineWriter {
  const { preset } = given
  const options = { ...given, instant: instantWriter(preset.date) }
  return {
    header: csvLine(preset.columns.map(([header]) => header)),
    write: (line) => {
      const sides = writeSides(line, options)
      if (sides === undefined) return undefined
      let text = ''
      for (const [at, [, role]] of preset.columns.entries()) {
        const cell = CELLS[role](line, sides, options)
        text += `${at === 0 ? '' : ','}${FREE_TEXT.has(role) ? plainField(cell) : cell}`
      }
      return `${text}\n`
    },
  }
}

/** Cells that may have commas in them. */
const FREE_TEXT: ReadonlySet<Role> = new Set(['type', 'wallet', 'chain', 'note'])

/** Importers would take a `'` before a formula for text: what could be one was taken out of strangers' text before. */
const plainField = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

type Amounts = { in: string; out: string }

/** The amounts of a line; undefined, and told, where one of them cannot be written. What is cut off is told too. */
function writeSides(line: Line, { preset, onOmitted }: WriterOptions): Amounts | undefined {
  const omit = (reason: string): undefined => {
    for (const movement of line.movements)
      onOmitted({ movement, value: movement.isOut ? -movement.value : movement.value, reason })
  }
  const amounts = { in: '', out: '' }
  const cuts: Omitted[] = []
  for (const way of ['in', 'out'] as const) {
    const side = line[way]
    if (side === undefined) continue
    if (isNft(side.asset) && !preset.holdsNfts) return omit('the format has no NFTs')
    const written = writeAmount(side.value, side.asset.decimals, preset.numbers)
    if (written === undefined) return omit(reasonOf(side, preset))
    if (written.text === '0' || written.text === '0.0')
      return omit('nothing is left of it within the decimals')
    amounts[way] = written.text
    cuts.push(...cutOff(line, { side, written, isOut: way === 'out' }))
  }
  for (const cut of cuts) onOmitted(cut)
  return amounts
}

function cutOff(
  { movements }: Line,
  { side, written, isOut }: { side: Side; written: Written; isOut: boolean },
) {
  if (written.cut === 0n) return []
  const of = movements.find(({ asset }) => asset.address === side.asset.address) ?? movements[0]
  return [{ movement: of, value: isOut ? -written.cut : written.cut, reason: 'cut off beyond the decimals' }]
}

function reasonOf({ asset }: Side, { numbers }: Preset): string {
  if (asset.decimals === null) return 'the decimals of the token are unknown'
  if (asset.decimals > 255) return 'the token has more than 255 decimals'
  return `more than ${numbers.maxDigits} digits`
}

type Writing = WriterOptions & { instant: (time: string) => string }
type CellOf = (line: Line, amounts: Amounts, options: Writing) => string

/** A fee stands in columns of its own in some formats: then nothing was sold of it. */
const isFeeApart = ({ kind }: Line, { preset }: WriterOptions) =>
  kind === 'fee' && preset.fee === 'in the fee columns, nothing sold'

const CELLS: Readonly<Record<Role, CellOf>> = {
  empty: () => '',
  date: ({ movements: [{ time }] }, _, { instant }) => instant(time),
  type: typeOf,
  amount: (_, amounts) => amounts.in || amounts.out,
  asset: (line, _, options) => nameOf(line.in ?? line.out, line, options),
  quoteAmount: ({ kind }, { out }) => (kind === 'swap' ? out : ''),
  quoteAsset: (line, _, options) => (line.kind === 'swap' ? nameOf(line.out, line, options) : ''),
  inAmount: (_, amounts) => amounts.in,
  inAsset: (line, _, options) => nameOf(line.in, line, options),
  outAmount: (line, { out }, options) => (isFeeApart(line, options) ? '0' : out),
  outAsset: (line, _, options) => nameOf(line.out, line, options),
  feeAmount: (line, { out }, options) => (isFeeApart(line, options) ? out : ''),
  feeAsset: (line, _, options) => (isFeeApart(line, options) ? nameOf(line.out, line, options) : ''),
  inContract: (line) => line.in?.asset.address ?? '',
  outContract: (line) => line.out?.asset.address ?? '',
  from: ({ kind, movements: [movement] }) => (kind === 'swap' ? movement.wallet : partiesOf(movement).from),
  to: ({ kind, movements: [movement] }) => (kind === 'swap' ? movement.wallet : partiesOf(movement).to),
  wallet: ({ movements: [{ wallet, label }] }) => safeText(label ?? '') || wallet,
  chain: ({ movements: [{ chain }] }, _, { preset, chainName }) =>
    chainName ?? preset.chainNames?.[chain] ?? preset.chainNames?.other ?? chain,
  hash: ({ movements: [{ transaction }] }) => transaction,
  id: ({ movements: [{ entry }] }) => entry,
  note: noteOf,
}

function typeOf({ kind, isOwn, label }: Line, _: Amounts, { preset: { types } }: WriterOptions): string {
  if (label !== undefined) return label
  if (isOwn && kind === 'in') return types.ownIn ?? types.in
  if (isOwn && kind === 'out') return types.ownOut ?? types.out
  return types[kind]
}

function nameOf(
  side: Side | undefined,
  { movements }: Line,
  { preset, placeholderOf }: WriterOptions,
): string {
  if (side === undefined) return ''
  if (preset.naming === 'caip') return caipName(side.asset, movements[0].chain)
  return preset.naming === 'placeholder' ? placeholderOf(side.asset) : tickerName(side.asset)
}

function partiesOf({ wallet, counterparty, isOut }: Movement): { from: string; to: string } {
  const other = counterparty ?? ''
  return isOut ? { from: wallet, to: other } : { from: other, to: wallet }
}

/** What the other columns do not say: contracts, the other party, the method, the entry of the ledger. */
function noteOf({ kind, isOwn, movements, in: came, out: gone }: Line): string {
  const [movement] = movements
  const { type, counterparty, method, entry, transaction, isOut } = movement
  let note: string = kind === 'swap' ? 'swap' : type
  if (isOwn) note += ' / between own wallets'
  const [sent, got] = [gone?.asset.address ?? null, came?.asset.address ?? null]
  if (sent !== null) note += ` / contract ${sent}`
  if (got !== null && got !== sent) note += ` / contract ${got}`
  if (counterparty !== null && kind !== 'swap') note += ` / ${isOut ? 'to' : 'from'} ${counterparty}`
  if (method !== null) note += ` / method ${safeText(method).slice(0, 60)}`
  return `${note} / tx ${transaction} / entry ${entry}`
}
