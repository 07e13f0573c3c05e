import { ExportError } from '../core/model/errors.ts'
import { optionFault } from '../core/model/option-error.ts'
import { readTextIfAny } from '../core/platform/disk.ts'
import type { LineWriter } from './csv/import-row-writer.ts'
import type { Preset } from './csv/preset.ts'
import { programTypes } from './csv/types.ts'
import { type Labels, linesOf, withLabels } from './import-rows.ts'
import { JOURNALS } from './journals/index.ts'
import { openJournalWriter } from './journals/journal-writer.ts'
import { readLabels } from './labels.ts'
import type { Movement } from './movement.ts'
import { openSetWriter } from './multi-file-text-writer.ts'
import { numberAssets, type PlaceholderOf } from './names/placeholders.ts'
import { besideOut, mapOf } from './options.ts'
import { refusalOfSums } from './precision-limits.ts'
import { FILE_SETS, PRESETS } from './presets/index.ts'
import { byWallet, lineWriterFor, type Opening, type Piece, type TextWriter } from './text-writer.ts'

/** The names of all formats, as `to` takes them. */
export const PRESET_NAMES: readonly string[] = [...PRESETS, ...FILE_SETS, ...JOURNALS].map(({ name }) => name)

/** Whether a format gives numbers to assets that its program does not know. */
export const numbersAssets = (to: string): boolean =>
  PRESETS.some(({ name, naming }) => name === to && naming === 'placeholder')

/** Opens the writer of a format. Throws USAGE where there is none of that name, or options do not fit it. */
export async function openWriter(opening: Opening): Promise<TextWriter> {
  const { to, swaps } = opening.options
  const preset = PRESETS.find(({ name }) => name === to)
  const set = FILE_SETS.find(({ name }) => name === to)
  const form = JOURNALS.find(({ name }) => name === to)
  if (swaps === 'pair' && !preset?.holdsSwaps)
    throw new ExportError('USAGE', `${to} has no lines of two assets, so that swaps stay apart`, {
      fix: 'Leave --swaps out, or say --swaps off.',
    })
  if (preset !== undefined) return openCsvWriter(preset, opening)
  if (set !== undefined) return openSetWriter(set, opening)
  if (form !== undefined) return openJournalWriter(form, opening)
  throw optionFault('to', { found: to, expected: PRESET_NAMES.join(', ') })
}

async function openCsvWriter(preset: Preset, opening: Opening): Promise<TextWriter> {
  const { options } = opening
  const pairsSwaps = options.swaps !== 'off' && preset.holdsSwaps
  const labels = await readLabels(options.labels, programTypes([preset]))
  const placeholderOf = await placeholdersFor(preset, opening)
  const refuses = await refusalOfSums(preset, opening)
  const writer = lineWriterFor(preset, opening, { placeholderOf, refuses })
  const writePart = linesWriter(writer, { pairsSwaps, labelOf: labels.labelOf })
  return {
    head: writer.header,
    parts: undefined,
    write: (movements) => byWallet(movements).map(writePart),
    labelFindings: labels.findings,
    close: async () => {},
  }
}

/** Writes what one wallet did in one transaction. Where the format cannot hold a swap, it may hold one side of it. */
function linesWriter(writer: LineWriter, { pairsSwaps, labelOf }: { pairsSwaps: boolean; labelOf: Labels }) {
  const linesIn = (part: readonly Movement[]) => {
    const lines = linesOf(part, pairsSwaps)
    const isHeld = lines.every((line) => line.kind !== 'swap' || writer.holds(line))
    return withLabels(isHeld ? lines : linesOf(part, false), labelOf)
  }
  return (part: [Movement, ...Movement[]]): Piece => {
    const piece: Piece = { wallet: part[0], text: '', lines: 0 }
    for (const line of linesIn(part)) {
      const text = writer.write(line)
      if (text === undefined) continue
      piece.text += text
      piece.lines += 1
    }
    return piece
  }
}

async function placeholdersFor(
  { naming }: Preset,
  { options: { map, out }, output, opened, contracts }: Opening,
): Promise<PlaceholderOf> {
  if (naming !== 'placeholder') return () => ''
  if (map === undefined && out !== undefined) await refuseMapBesideOut(besideOut(out, 'assets.csv'))
  return numberAssets(map ?? (await mapOf(output)), { opened, contracts })
}

/** Earlier versions kept numbers beside each converted file, so that they had other meanings in other files. */
async function refuseMapBesideOut(file: string): Promise<void> {
  if ((await readTextIfAny(file)) === undefined) return
  throw new ExportError('USAGE', `${file} numbers unknown assets, as files imported earlier may have them`, {
    fix: `Give it with --map ${file} every time, or remove it to number them for all files of the export.`,
  })
}
