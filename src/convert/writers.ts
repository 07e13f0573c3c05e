import { ExportError } from '../core/errors.ts'
import { optionFault } from '../core/option-fault.ts'
import { refusalOfSums } from './beyond-digits.ts'
import type { LineWriter } from './csv/line-writer.ts'
import type { Preset } from './csv/preset.ts'
import { programTypes } from './csv/types.ts'
import { JOURNALS } from './journals/index.ts'
import { openJournalWriter } from './journals/journal-writer.ts'
import { readLabels } from './labels.ts'
import { type Labels, linesOf, withLabels } from './lines.ts'
import type { Movement } from './movement.ts'
import { openPlaceholders, type Placeholders } from './names/placeholders.ts'
import { besideOut, type ConvertOptions } from './options.ts'
import { FILE_SETS, PRESETS } from './presets/index.ts'
import { openSetWriter } from './set-writer.ts'
import { byWallet, lineWriterFor, type Opening, type Piece, type TextWriter } from './text-writer.ts'

/** The names of all formats, as `to` takes them. */
export const PRESET_NAMES: readonly string[] = [...PRESETS, ...FILE_SETS, ...JOURNALS].map(({ name }) => name)

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
  const placeholders = await placeholdersFor(preset, options)
  const refuses = await refusalOfSums(preset, opening)
  const writer = lineWriterFor(preset, opening, { placeholderOf: placeholders.nameOf, refuses })
  const writePart = linesWriter(writer, { pairsSwaps, labelOf: labels.labelOf })
  return {
    head: writer.header,
    parts: undefined,
    write: (movements) => byWallet(movements).map(writePart),
    labelFindings: labels.findings,
    save: () => placeholders.save(),
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

async function placeholdersFor({ naming }: Preset, { map, out }: ConvertOptions): Promise<Placeholders> {
  const file = map ?? (out === undefined ? undefined : besideOut(out, 'assets.csv'))
  if (naming !== 'placeholder') return { nameOf: () => '', save: async () => {} }
  if (file !== undefined) return openPlaceholders(file)
  throw new ExportError(
    'USAGE',
    'unknown assets are numbered here, and their numbers must be kept in a file',
    {
      fix: 'Name a file for the text with --out, or one for the numbers with --map; give the same one every time.',
    },
  )
}
