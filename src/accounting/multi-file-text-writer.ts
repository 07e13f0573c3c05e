import { ExportError } from '../core/model/errors.ts'
import { openExport } from '../read/open-export.ts'
import { type ImportRowWriter, toOmitted } from './csv/import-row-writer.ts'
import type { MultiFileWriter, OutputFileFormat, Placement } from './csv/multi-file-writer.ts'
import { openTransactionFacts } from './csv/transaction-facts.ts'
import { programTypes } from './csv/types.ts'
import type { NumberRules } from './format-amount.ts'
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

/** Opens the writer of a program that takes several files at once. Throws USAGE where options do not fit it. */
export async function openMultiFileTextWriter(
  multiFile: MultiFileWriter,
  context: WriterContext,
): Promise<TextWriter> {
  const { options, output } = context
  assertOptionsFit(multiFile, context)
  const labels = await readLabels(options.labels, programTypes(multiFile.files.filter(hasTypes)))
  const facts = multiFile.needsTransactions ? openTransactionFacts(await openExport(output)) : undefined
  const writers = await writersFor(multiFile, context)
  const outputFileOf = outputFileFactory(writers)
  const headerChunksOf = headerChunksFactory(multiFile, outputFileOf)
  const chunksOf = chunkFactory({ ...context, writers, outputFileOf })
  return {
    header: '',
    outputFiles: multiFile.isPerWallet ? [] : multiFile.files.map((format) => outputFileOf(format, '')),
    write: async (movements) => {
      const transactionFacts = await facts?.find(movements[0]?.transaction ?? '')
      const placements = multiFile.placementsOf(movements, {
        labelOf: labels.labelOf,
        facts: transactionFacts,
      })
      return [...headerChunksOf(movements), ...placements.flatMap(chunksOf)]
    },
    labelFindings: labels.findings,
    close: async () => facts?.close(),
  }
}

/** The writers of all files; the ledger is read once more for those of the same rules together. */
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

/** The file of a wallet, and what it begins with. */
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

/** Makes the text of a line where it stands; none where it stands nowhere, or another tells of it already. */
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

/** A wallet that is met for the first time has all its files. */
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
        ...{ wallet: movement, text: '', lines: 0, outputFile: outputFileOf(format, movement.wallet) },
      }))
    })
}

const hasTypes = ({ columns }: OutputFileFormat) => columns.some(([, role]) => role === 'type')

function assertOptionsFit(multiFile: MultiFileWriter, { options, prices, opened }: WriterContext): void {
  const { out, perWallet, labels } = options
  const usageError = (problem: string, fix: string) =>
    new ExportError('USAGE', `${multiFile.name}: ${problem}`, { fix })
  if (out === undefined) throw usageError('it takes several files', 'Name a folder for them with --out.')
  if (perWallet && !multiFile.isPerWallet)
    throw usageError('its files are of all wallets together', 'Leave --per-wallet out.')
  if (multiFile.files.some(({ needsPrices }) => needsPrices) && prices === undefined)
    throw usageError(
      'it takes no line without a price',
      'List what is needed with --prices-needed, fill in the column price, and name the file with --prices.',
    )
  if (labels !== undefined && !multiFile.files.some(hasTypes))
    throw usageError('its lines have no type', 'Leave --labels out.')
  if (multiFile.needsTransactions && opened.manifest.tables.transactions === undefined)
    throw usageError(
      'it needs the table of transactions, which this export does not have',
      'Add transactions to the tables of the job, and run it again with --fresh.',
    )
}
