import { ExportError } from '../core/model/errors.ts'
import { optionError } from '../core/model/option-error.ts'
import { readTextIfExists } from '../core/platform/disk.ts'
import type { ImportRowWriter } from './csv/import-row-writer.ts'
import type { Preset } from './csv/preset.ts'
import { programTypes } from './csv/types.ts'
import { type AcceptsSwap, importRowsOf, type Labels, withLabels } from './import-rows.ts'
import { JOURNALS } from './journals/index.ts'
import { openJournalWriter } from './journals/journal-writer.ts'
import { readLabels } from './labels.ts'
import type { Movement } from './movement.ts'
import { openMultiFileTextWriter } from './multi-file-text-writer.ts'
import { assignPlaceholders, type PlaceholderOf } from './names/placeholders.ts'
import { defaultMapPath, siblingPath } from './options.ts'
import { findPrecisionRefusals } from './precision-limits.ts'
import { MULTI_FILE_WRITERS, PRESETS } from './presets/index.ts'
import {
  groupByWallet,
  importRowWriterFor,
  type TextChunk,
  type TextWriter,
  type WriterContext,
} from './text-writer.ts'
import { requireWorkbookPreset } from './workbook-target.ts'

/** The names of all import formats: the valid values of `ConvertOptions.to`. */
export const FORMAT_NAMES: readonly string[] = [...PRESETS, ...MULTI_FILE_WRITERS, ...JOURNALS].map(
  ({ name }) => name,
)

/** Whether a format names assets by numbered placeholders. */
export const usesPlaceholders = (to: string): boolean =>
  PRESETS.some(({ name, naming }) => name === to && naming === 'placeholder')

/** Whether a format names tokens by identifiers of its own instead of tickers. */
export const usesIdentifiers = (to: string | undefined): boolean =>
  [...PRESETS, ...MULTI_FILE_WRITERS.flatMap(({ files }) => files)].some(
    ({ name, naming }) => name === to && naming === 'caip',
  )

/** Opens the writer of a format. Throws USAGE if there is no such format, or if the options do not fit it. */
export async function openWriter(context: WriterContext): Promise<TextWriter> {
  const { to, swaps } = context.options
  const preset = PRESETS.find(({ name }) => name === to)
  const multiFile = MULTI_FILE_WRITERS.find(({ name }) => name === to)
  const format = JOURNALS.find(({ name }) => name === to)
  const files = multiFile?.files ?? (preset === undefined ? [] : [preset])
  if (swaps === 'pair' && format === undefined && !files.some(({ supportsSwaps }) => supportsSwaps))
    throw new ExportError('USAGE', `${to} has no lines of two assets, so swaps cannot be paired`, {
      fix: 'Omit --swaps, or use --swaps off.',
    })
  if (context.options.format === 'xlsx') requireWorkbookPreset(context.options)
  if (preset !== undefined) return openCsvWriter(preset, context)
  if (multiFile !== undefined) return openMultiFileTextWriter(multiFile, context)
  if (format !== undefined) return openJournalWriter(format, context)
  throw optionError('to', { found: to, expected: FORMAT_NAMES.join(', ') })
}

async function openCsvWriter(preset: Preset, context: WriterContext): Promise<TextWriter> {
  const { options } = context
  const pairsSwaps = options.swaps !== 'off' && preset.supportsSwaps
  const labels = await readLabels(options.labels, programTypes([preset]))
  const placeholderOf = await placeholdersFor(preset, context)
  const refusalReasonOf = await findPrecisionRefusals(preset, context)
  const writer = importRowWriterFor(preset, context, { placeholderOf, refusalReasonOf })
  const writeGroup = chunkWriter(writer, {
    acceptsSwap: pairsSwaps ? writer.canWrite : undefined,
    labelOf: labels.labelOf,
  })
  return {
    header: writer.header,
    outputFiles: undefined,
    write: (movements) => groupByWallet(movements).map(writeGroup),
    labelFindings: labels.findings,
    close: async () => {},
  }
}

/** Writes the movements of one wallet in one transaction. */
function chunkWriter(
  writer: ImportRowWriter,
  { acceptsSwap, labelOf }: { acceptsSwap: AcceptsSwap | undefined; labelOf: Labels },
) {
  return (group: [Movement, ...Movement[]]): TextChunk => {
    const chunk: TextChunk = { wallet: group[0], text: '', lines: 0 }
    for (const row of withLabels(importRowsOf(group, acceptsSwap), labelOf)) {
      const text = writer.write(row)
      if (text === undefined) continue
      chunk.text += text
      chunk.lines += 1
    }
    return chunk
  }
}

async function placeholdersFor(
  { naming }: Preset,
  { options: { map, out }, output, opened, contracts }: WriterContext,
): Promise<PlaceholderOf> {
  if (naming !== 'placeholder') return () => ''
  if (map === undefined && out !== undefined) await rejectSiblingMap(siblingPath(out, 'assets.csv'))
  return assignPlaceholders(map ?? (await defaultMapPath(output)), { opened, contracts })
}

/**
 * Earlier versions stored placeholder numbers next to each converted file, so a number had different meanings in
 * different files.
 */
async function rejectSiblingMap(file: string): Promise<void> {
  if ((await readTextIfExists(file)) === undefined) return
  throw new ExportError('USAGE', `${file} contains asset numbers that files imported earlier may use`, {
    fix: `Pass --map ${file} every time to keep them, or remove the file to number the assets of the export anew.`,
  })
}
