import { ExportError } from '../../core/model/errors.ts'
import type { TextRows } from '../../core/table/index.ts'
import { type Dataset, openDataset } from '../../read/dataset.ts'
import { extensionOf } from '../conversion-target.ts'
import {
  type AcceptsSwap,
  acceptsSwapIn,
  type ImportRow,
  labelledRowsOf,
  type SwapMode,
  type TransactionSummary,
} from '../import-rows.ts'
import { readLabels } from '../labels.ts'
import { hasTransaction, type Movement, toOmitted, toRounded } from '../movement.ts'
import { walletFileName, walletNamer } from '../names/names.ts'
import { openPlaceholders } from '../names/placeholders.ts'
import { findPrecisionRefusals } from '../precision-limits.ts'
import type { Conversion, OutputFile, TextChunk, TextWriter } from '../text-writer.ts'
import { attachFeesTo, noAttachedFees } from './attach-fees.ts'
import { mergeEqualRows } from './merge-equal-rows.ts'
import {
  type MultiFileWriter,
  type Placement,
  type PlacementOptions,
  type Preset,
  programTypes,
} from './preset.ts'
import { Remainders } from './remainders.ts'
import { createRowWriter, type RowWriter } from './row-writer.ts'

/** A program whose import format is one CSV file, or several. */
type Program = Preset | MultiFileWriter

/** Opens the writer of a program. Throws USAGE if the options do not fit its format. */
export async function openCsvWriter(program: Program, conversion: Conversion): Promise<TextWriter> {
  const { options, sources, onOmitted } = conversion
  const presets: readonly Preset[] = 'files' in program ? program.files : [program]
  const isPerWallet = 'files' in program ? program.isPerWallet : (options.perWallet ?? false)
  if ('files' in program) assertOptionsFit(program, conversion)
  const labels = await readLabels(options.labels, programTypes(presets.filter(hasTypes)))
  const placeholders = await openPlaceholders(presets, conversion)
  const writers = await openRowWriters(presets, conversion, { ...placeholders, isPerWallet })
  const extension = extensionOf(options)
  const nameOf = ({ file }: Preset, movement: Movement | undefined): string => {
    if (file !== undefined) return file.replace('{wallet}', () => movement?.wallet ?? '')
    return isPerWallet && movement !== undefined ? `${walletFileName(movement)}${extension}` : ''
  }
  const fileOf = (preset: Preset, movement?: Movement): OutputFile => ({
    name: nameOf(preset, movement),
    header: writers.get(preset)?.header ?? '',
  })
  const acceptsSwap = swapTest(writers, options.swaps ?? 'pair')
  const startFiles = fileStarter('files' in program && isPerWallet ? presets : [], fileOf)
  const attachFee =
    'files' in program
      ? noFeesToAttach(program, options)
      : attachFeesTo(program, options.fees, writers.get(program))
  const place = openPlacements(program, writers, { acceptsSwap, attachFee, nameOf })
  const chunksOf = (movements: readonly Movement[], transaction?: PlacementOptions['transaction']) => {
    const chunks = startFiles(movements)
    for (const placement of place(movements, { labelOf: labels.labelOf, transaction }, onOmitted)) {
      const { row } = placement
      if ('reason' in placement)
        for (const movement of row.movements) onOmitted(toOmitted(movement, placement.reason))
      else {
        const text = writers.get(placement.format)?.write(row)
        if (text === undefined || placement.writtenAs !== undefined) continue
        const file = fileOf(placement.format, row.movements[0])
        chunks.push({ file, text, lines: 1, merged: (row.mergedRows?.length ?? 1) - 1 })
      }
    }
    return chunks
  }
  // Opened last: nothing that could throw before `close` is returned follows.
  const [source] = 'files' in program && program.needsTransactions ? sources : []
  const summaries = source && openTransactionSummaries(await openDataset(source.output))
  return {
    files: isPerWallet ? [] : presets.map((preset) => fileOf(preset)),
    // Without a hash, lines of several transactions of a second can be equal.
    isPerSecond: presets.some((preset) => isMerging(preset) && !hasRole(preset, 'hash')),
    write:
      summaries === undefined
        ? chunksOf
        : async (movements) => chunksOf(movements, await summaries.find(movements)),
    skip: isRounding(presets)
      ? (movements) => place(movements, { labelOf: () => undefined, transaction: undefined }, () => {})
      : undefined,
    isUntyped: !presets.some(hasTypes),
    placeholders: placeholders.used,
    labelFindings: labels.findings,
    close: async () => summaries?.close(),
  }
}

const hasRole = ({ columns }: Preset, role: string) => columns.some(([, columnRole]) => columnRole === role)
const hasTypes = (preset: Preset) => hasRole(preset, 'type')
const isMerging = ({ equalLines }: Preset) => equalLines.handling === 'merge'

type RowWriters = ReadonlyMap<Preset, RowWriter>

/** Creates the writers of all files of a program. The files have the same number rules. */
async function openRowWriters(
  presets: readonly Preset[],
  conversion: Conversion,
  naming: Pick<Parameters<typeof createRowWriter>[0], 'placeholderOf' | 'isPerWallet'>,
): Promise<RowWriters> {
  const { options, sources } = conversion
  const [{ name, numbers } = { name: '', numbers: {} }] = presets
  const refusalReasonOf = await findPrecisionRefusals({ name, numbers }, conversion)
  const manifests = sources.map(({ opened }) => opened.manifest)
  const wallets = manifests.flatMap(({ coverage }) => coverage)
  // Only the format of explorers has the coin in its headers, and it is for one export.
  const coin = manifests[0]?.job.nativeSymbol ?? undefined
  const remainders = new Remainders(numbers)
  return new Map(
    presets.map((preset) => {
      const walletNameOf = walletNamer(wallets, preset)
      const rules = { refusalReasonOf, walletNameOf, chainName: options.chainName, coin, remainders }
      return [preset, createRowWriter({ ...conversion, ...naming, ...rules, preset })]
    }),
  )
}

/** Assigns the movements of one transaction or second to files, as rows with rounded amounts. */
type Place = (
  movements: readonly Movement[],
  options: Pick<PlacementOptions, 'labelOf' | 'transaction'>,
  onRounded: Conversion['onOmitted'],
) => readonly Placement[]

/** Creates the function that assigns movements to the files of a program, and merges equal rows if that is necessary. */
function openPlacements(
  program: Program,
  writers: RowWriters,
  {
    acceptsSwap,
    attachFee,
    nameOf,
  }: Pick<PlacementOptions, 'acceptsSwap' | 'attachFee'> & {
    nameOf(format: Preset, movement: Movement): string
  },
): Place {
  if ('files' in program)
    return (movements, options, onRounded) =>
      roundPlacements(program.placementsOf(movements, { ...options, acceptsSwap }), writers, onRounded)
  // In one file, equal lines of several wallets are duplicates too.
  const keyOf = (row: ImportRow) => {
    const cells = writers.get(program)?.comparedCells(row)
    return cells && `${nameOf(program, row.movements[0])},${cells}`
  }
  return (movements, { labelOf }, onRounded) => {
    const rows = labelledRowsOf(movements, { labelOf, acceptsSwap, attachFee })
    const merged = (rowsToMerge: readonly ImportRow[]) =>
      isMerging(program) ? mergeEqualRows(rowsToMerge, keyOf) : rowsToMerge
    const placements = merged(rows).map((row) => ({ row, format: program }))
    const rounded = roundPlacements(placements, writers, onRounded)
    if (rounded === placements) return placements
    // Rows that differed can be equal after they are rounded.
    return merged(rounded.map(({ row }) => row)).map((row) => ({ row, format: program }))
  }
}

/**
 * Rounds rows to the decimals of the format, in the order of the file. The second side of a transfer between own wallets has the
 * amount of the first one.
 */
function roundPlacements(
  placements: readonly Placement[],
  writers: RowWriters,
  onRounded: Conversion['onOmitted'],
): readonly Placement[] {
  if (!isRounding([...writers.keys()])) return placements
  const rounded = new Map<ImportRow, ImportRow>()
  for (const placement of placements) {
    if ('reason' in placement || placement.writtenAs !== undefined) continue
    const { row, format } = placement
    rounded.set(row, writers.get(format)?.round(row, onRounded) ?? row)
  }
  return placements.map((placement) => {
    if ('reason' in placement) return placement
    const { row, writtenAs } = placement
    const written = rounded.get(writtenAs ?? row)
    if (writtenAs === undefined || written?.out === undefined || row.in === undefined)
      return { ...placement, row: written ?? row }
    const { value } = written.out
    if (value !== 0n && value !== row.in.value) onRounded(toRounded(row.movements[0], row.in.value - value))
    return { ...placement, row: { ...row, in: { ...row.in, value } } }
  })
}

const isRounding = (presets: readonly Preset[]) =>
  presets.some(({ numbers }) => numbers.maxDecimals !== undefined)

/** Creates all files of a wallet at its first movement, so that each wallet has every file, even without rows. */
function fileStarter(
  presets: readonly Preset[],
  fileOf: (preset: Preset, movement: Movement) => OutputFile,
): (movements: readonly Movement[]) => TextChunk[] {
  const started = new Set<string>()
  return (movements) => {
    const chunks: TextChunk[] = []
    for (const movement of presets.length > 0 ? movements : []) {
      if (started.has(movement.wallet)) continue
      started.add(movement.wallet)
      for (const preset of presets) chunks.push({ file: fileOf(preset, movement), text: '', lines: 0 })
    }
    return chunks
  }
}

/**
 * Returns the test of swaps that the file of swaps can hold; none if there is no such file. If the program treats equal swaps as
 * one, only the first of them passes.
 */
function swapTest(writers: RowWriters, mode: SwapMode): AcceptsSwap | undefined {
  const [fileOfSwaps] = [...writers].filter(([{ supportsSwaps }]) => supportsSwaps)
  if (fileOfSwaps === undefined) return acceptsSwapIn(mode, () => false)
  const [{ equalLines }, { canWrite, comparedCells }] = fileOfSwaps
  const accepted = new Set<string>()
  let time = ''
  return acceptsSwapIn(mode, (row) => {
    if (!canWrite(row) || equalLines.handling !== 'unpair') return canWrite(row)
    if (time !== row.movements[0].time) accepted.clear()
    time = row.movements[0].time
    // The user's identifiers may have contracts in another letter case.
    const key = comparedCells(row)?.toLowerCase() ?? ''
    if (accepted.has(key)) return false
    accepted.add(key)
    return true
  })
}

/** Programs with several files have fees in lines of their own. Throws USAGE if they should be attached. */
function noFeesToAttach({ name }: MultiFileWriter, { fees }: Pick<Conversion['options'], 'fees'>): undefined {
  if (fees === 'attach') throw noAttachedFees(name)
}

function assertOptionsFit(program: MultiFileWriter, { options, prices, sources }: Conversion): void {
  const { out, perWallet, labels } = options
  const usageError = (problem: string, fix: string) =>
    new ExportError('USAGE', `${program.name}: ${problem}`, { fix })
  if (out === undefined)
    throw usageError('it consists of several files', 'Name a folder for them with --out.')
  if (perWallet && !program.isPerWallet)
    throw usageError('its files contain all wallets together', 'Omit --per-wallet.')
  if (program.files.some(({ needsPrices }) => needsPrices) && prices === undefined)
    throw usageError(
      'every line needs a price',
      'List the missing prices with --prices-needed, fill in the column price, and pass the file with --prices.',
    )
  const currency = program.files.find((file) => file.currency !== undefined)?.currency ?? prices?.currency
  if (prices !== undefined && currency !== prices.currency)
    throw usageError(
      `its values are in ${currency}, and the prices are in ${prices.currency}`,
      `Pass prices in ${currency}, or omit --prices: the columns of values then stay empty.`,
    )
  if (labels !== undefined && !program.files.some(hasTypes))
    throw usageError('its lines have no type', 'Omit --labels.')
  if (program.needsTransactions && sources.length > 1)
    throw usageError('its files are those of one export', 'Convert each output to a folder of its own.')
  if (program.needsTransactions && sources.some(({ opened }) => !opened.manifest.tables.transactions))
    throw usageError(
      'it needs the transactions table, which this export does not have',
      'Add transactions to the tables of the job, and run it again.',
    )
}

const COLUMNS = ['transaction_hash', 'from_address', 'to_address', 'value', 'success'] as const
type TransactionRow = Pick<TextRows['transactions'], (typeof COLUMNS)[number]>

/**
 * Reads the transactions table in parallel with the ledger, which has the same order. `find` skips forward to the
 * transaction of the movements, so call it at most once per transaction and in chain order. `close` also closes the export.
 */
function openTransactionSummaries(opened: Dataset) {
  const batches = opened.stream('transactions', COLUMNS)
  let [rows, at]: [readonly TransactionRow[], number] = [[], 0]
  return {
    async find([movement]: readonly Movement[]): Promise<TransactionSummary | undefined> {
      if (movement === undefined || !hasTransaction(movement)) return undefined
      for (;;) {
        while (at < rows.length) {
          const row = rows[at++]
          if (row?.transaction_hash === movement.transaction) return summaryOf(row)
        }
        const { value, done } = await batches.next()
        if (done) return undefined
        ;[rows, at] = [value, 0]
      }
    },
    close: async () => {
      await batches.return()
      await opened.close()
    },
  }
}

function summaryOf({ from_address, to_address, value, success }: TransactionRow): TransactionSummary {
  return {
    sender: from_address,
    receiver: to_address,
    value: BigInt(value ?? '0'),
    isFailed: success === 'false',
  }
}
