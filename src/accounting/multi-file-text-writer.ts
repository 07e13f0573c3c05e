import { ExportError } from '../core/model/errors.ts'
import { openDataset } from '../read/dataset.ts'
import { type ImportRowWriter, toOmitted } from './csv/import-row-writer.ts'
import type { MultiFileWriter, OutputFileFormat, Placement } from './csv/multi-file-writer.ts'
import { openTransactionSummaries } from './csv/transaction-summaries.ts'
import { programTypes } from './csv/types.ts'
import type { NumberRules } from './format-amount.ts'
import { type AcceptsSwap, acceptsSwapIn, type SwapMode } from './import-rows.ts'
import { readLabels } from './labels.ts'
import type { Movement } from './movement.ts'
import { findPrecisionRefusals, type RefusalReasonOf } from './precision-limits.ts'
import {
  importRowWriterFor,
  type OutputFile,
  type TextChunk,
  type TextWriter,
  type WriterContext,
} from './text-writer.ts'

/** Opens the writer of a format that consists of several files. Throws USAGE if the options do not fit the format. */
export async function openMultiFileTextWriter(
  multiFile: MultiFileWriter,
  context: WriterContext,
): Promise<TextWriter> {
  const { options, sources } = context
  assertOptionsFit(multiFile, context)
  const labels = await readLabels(options.labels, programTypes(multiFile.files.filter(hasTypes)))
  const writers = await writersFor(multiFile, context)
  const outputFileOf = outputFileFactory(writers)
  const headerChunksOf = headerChunksFactory(multiFile, outputFileOf)
  const acceptsSwap = swapAcceptor(writers, options.swaps ?? 'pair')
  const chunksOf = chunkFactory({ ...context, writers, outputFileOf })
  // Opened last: nothing that could throw before `close` is returned follows.
  const [source] = multiFile.needsTransactions ? sources : []
  const summaries = source && openTransactionSummaries(await openDataset(source.output))
  return {
    header: '',
    outputFiles: multiFile.isPerWallet ? [] : multiFile.files.map((format) => outputFileOf(format, '')),
    write: async (movements) => {
      const [first] = movements
      // The transactions table can be searched only once, and contains neither imports and exports nor opening balances.
      const isListed = first !== undefined && !UNLISTED_SOURCES.has(first.source)
      const summary = isListed ? await summaries?.find(first.transaction) : undefined
      const placements = multiFile.placementsOf(movements, {
        labelOf: labels.labelOf,
        transaction: summary,
        acceptsSwap,
      })
      return [...headerChunksOf(movements), ...placements.flatMap(chunksOf)]
    },
    isUntyped: !multiFile.files.some(hasTypes),
    labelFindings: labels.findings,
    close: async () => summaries?.close(),
  }
}

const UNLISTED_SOURCES: ReadonlySet<string> = new Set(['atomic_transactions', 'opening'])

/** Creates the writers of all files. Files with the same number rules share one pass over the ledger. */
async function writersFor(
  { files }: MultiFileWriter,
  context: WriterContext,
): Promise<Map<OutputFileFormat, ImportRowWriter>> {
  const refusals = new Map<NumberRules, RefusalReasonOf>()
  const writers = new Map<OutputFileFormat, ImportRowWriter>()
  for (const format of files) {
    const refusalReasonOf = refusals.get(format.numbers) ?? (await findPrecisionRefusals(format, context))
    refusals.set(format.numbers, refusalReasonOf)
    writers.set(format, importRowWriterFor(format, context, { refusalReasonOf }))
  }
  return writers
}

/**
 * Creates the function that accepts the swaps that the file of swaps can hold. If the program treats equal swaps as one,
 * only the first of them is accepted. Undefined if there is no such file.
 */
function swapAcceptor(
  writers: ReadonlyMap<OutputFileFormat, ImportRowWriter>,
  mode: SwapMode,
): AcceptsSwap | undefined {
  const [found] = [...writers].filter(([{ supportsSwaps }]) => supportsSwaps)
  if (found === undefined) return undefined
  const [{ equalLines }, { canWrite, comparedCells }] = found
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

/** Returns the name and header of a wallet's file. */
type OutputFileOf = (format: OutputFileFormat, wallet: string) => OutputFile

function outputFileFactory(writers: ReadonlyMap<OutputFileFormat, ImportRowWriter>): OutputFileOf {
  return (format, wallet) => ({
    file: format.file.replace('{wallet}', () => wallet),
    header: writers.get(format)?.header ?? '',
  })
}

type ChunkContext = Pick<WriterContext, 'onOmitted'> & {
  writers: ReadonlyMap<OutputFileFormat, ImportRowWriter>
  outputFileOf: OutputFileOf
}

/**
 * Writes a row to its file. Writes nothing if no file can hold the row, or if the counterparty's row already represents
 * it.
 */
function chunkFactory({
  writers,
  outputFileOf,
  onOmitted,
}: ChunkContext): (placement: Placement) => TextChunk[] {
  return (placement) => {
    const { movements } = placement.row
    if ('reason' in placement) {
      for (const movement of movements) onOmitted(toOmitted(movement, placement.reason))
      return []
    }
    const text = writers.get(placement.format)?.write(placement.row)
    if (text === undefined || placement.isAlreadyWritten) return []
    const [wallet] = movements
    return [{ wallet, text, lines: 1, outputFile: outputFileOf(placement.format, wallet.wallet) }]
  }
}

/** Creates all files of a wallet at its first movement, so that each wallet has every file, even without rows. */
function headerChunksFactory(
  { files, isPerWallet }: MultiFileWriter,
  outputFileOf: OutputFileOf,
): (movements: readonly Movement[]) => TextChunk[] {
  const started = new Set<string>()
  return (movements) =>
    movements.flatMap((movement) => {
      if (!isPerWallet || started.has(movement.wallet)) return []
      started.add(movement.wallet)
      return files.map((format) => ({
        wallet: movement,
        text: '',
        lines: 0,
        outputFile: outputFileOf(format, movement.wallet),
      }))
    })
}

const hasTypes = ({ columns }: OutputFileFormat) => columns.some(([, role]) => role === 'type')

function assertOptionsFit(multiFile: MultiFileWriter, { options, prices, sources }: WriterContext): void {
  const { out, perWallet, labels } = options
  const usageError = (problem: string, fix: string) =>
    new ExportError('USAGE', `${multiFile.name}: ${problem}`, { fix })
  if (out === undefined)
    throw usageError('it consists of several files', 'Name a folder for them with --out.')
  if (perWallet && !multiFile.isPerWallet)
    throw usageError('its files contain all wallets together', 'Omit --per-wallet.')
  if (multiFile.files.some(({ needsPrices }) => needsPrices) && prices === undefined)
    throw usageError(
      'every line needs a price',
      'List the missing prices with --prices-needed, fill in the column price, and pass the file with --prices.',
    )
  if (labels !== undefined && !multiFile.files.some(hasTypes))
    throw usageError('its lines have no type', 'Omit --labels.')
  if (multiFile.needsTransactions && sources.length > 1)
    throw usageError('its files are those of one export', 'Convert each output to a folder of its own.')
  if (multiFile.needsTransactions && sources.some(({ opened }) => !opened.manifest.tables.transactions))
    throw usageError(
      'it needs the transactions table, which this export does not have',
      'Add transactions to the tables of the job, and run it again.',
    )
}
