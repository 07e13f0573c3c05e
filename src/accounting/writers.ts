import { ExportError } from '../core/model/errors.ts'
import { optionError } from '../core/model/option-error.ts'
import { readTextIfExists } from '../core/platform/disk.ts'
import type { ImportRowWriter } from './csv/import-row-writer.ts'
import { mergeEqualRows } from './csv/merge-equal-rows.ts'
import type { Preset } from './csv/preset.ts'
import { programTypes } from './csv/types.ts'
import { acceptsSwapIn, type ImportRow, importRowsOf, withLabels } from './import-rows.ts'
import { JOURNALS } from './journals/index.ts'
import { openJournalWriter } from './journals/journal-writer.ts'
import { readLabels } from './labels.ts'
import type { Movement } from './movement.ts'
import { openMultiFileTextWriter } from './multi-file-text-writer.ts'
import { assignPlaceholders, PLACEHOLDER, type PlaceholderOf } from './names/placeholders.ts'
import { walletFileName } from './names/wallet-file-name.ts'
import { defaultMapPath, siblingPath } from './options.ts'
import { findPrecisionRefusals } from './precision-limits.ts'
import { MULTI_FILE_WRITERS, PRESETS } from './presets/index.ts'
import {
  groupByWallet,
  importRowWriterFor,
  type TextChunk,
  type TextWriter,
  type UsedPlaceholders,
  type WriterContext,
} from './text-writer.ts'
import { requireWorkbookPreset } from './workbook-target.ts'

/** The names of all import formats: the valid values of `ConvertOptions.to`. */
export const FORMAT_NAMES: readonly string[] = [...PRESETS, ...MULTI_FILE_WRITERS, ...JOURNALS].map(
  ({ name }) => name,
)

/** Whether a format consists of several files, for which `out` is a folder. */
export const consistsOfFiles = (to: string): boolean => MULTI_FILE_WRITERS.some(({ name }) => name === to)

/** Whether a format may also be written as a workbook. */
export const mayBeWorkbook = (to: string): boolean =>
  PRESETS.some(({ name, isForPeople }) => name === to && isForPeople)

/** Whether a format is a journal of plain-text accounting. */
export const isJournal = (to: string): boolean => JOURNALS.some(({ name }) => name === to)

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
  if (
    (swaps === 'pair' || swaps === 'all') &&
    format === undefined &&
    !files.some(({ supportsSwaps }) => supportsSwaps)
  )
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
  const swaps = preset.supportsSwaps ? (options.swaps ?? 'pair') : 'off'
  const labels = await readLabels(options.labels, programTypes([preset]))
  const { placeholderOf, used } = await placeholdersFor(preset, context)
  const refusalReasonOf = await findPrecisionRefusals(preset, context)
  const writer = importRowWriterFor(preset, context, { placeholderOf, refusalReasonOf })
  const acceptsSwap = acceptsSwapIn(swaps, writer.canWrite)
  const rowsOf = (group: readonly Movement[]) => withLabels(importRowsOf(group, acceptsSwap), labels.labelOf)
  const isMerging = preset.equalLines.handling === 'merge'
  // In one file, equal lines of several wallets are duplicates too.
  const keyOf = (row: ImportRow) => {
    const cells = writer.comparedCells(row)
    return cells === undefined || !options.perWallet ? cells : `${walletFileName(row.movements[0])},${cells}`
  }
  return {
    header: writer.header,
    outputFiles: undefined,
    // Without a hash, lines of several transactions of a second can be equal.
    isPerSecond: isMerging && !preset.columns.some(([, role]) => role === 'hash'),
    write: (movements) => {
      const rows: ImportRow[] = []
      for (const group of groupByWallet(movements)) for (const row of rowsOf(group)) rows.push(row)
      return chunksOf(isMerging ? mergeEqualRows(rows, keyOf) : rows, writer)
    },
    placeholders: used,
    labelFindings: labels.findings,
    close: async () => {},
  }
}

function chunksOf(rows: readonly ImportRow[], writer: ImportRowWriter): TextChunk[] {
  const chunks: TextChunk[] = []
  for (const row of rows) {
    const text = writer.write(row)
    if (text !== undefined)
      chunks.push({ wallet: row.movements[0], text, lines: 1, merged: (row.mergedRows?.length ?? 1) - 1 })
  }
  return chunks
}

async function placeholdersFor(
  { naming }: Preset,
  { options: { map, out }, sources, opening }: WriterContext,
): Promise<{ placeholderOf: PlaceholderOf; used(): UsedPlaceholders | undefined }> {
  if (naming !== 'placeholder') return { placeholderOf: () => '', used: () => undefined }
  if (map === undefined && out !== undefined) await rejectSiblingMap(siblingPath(out, 'assets.csv'))
  const file = map ?? (await defaultMapPath(sources.map(({ output }) => output)))
  const nameOf = await assignPlaceholders(file, { sources, opening })
  const names = new Set<string>()
  return {
    placeholderOf: (asset, chain) => {
      const name = nameOf(asset, chain)
      if (asset.address !== null && PLACEHOLDER.test(name)) names.add(name)
      return name
    },
    used: () => (names.size === 0 ? undefined : { names: [...names], file }),
  }
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
