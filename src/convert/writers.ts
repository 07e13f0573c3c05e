import { ExportError } from '../core/errors.ts'
import type { OpenedExport } from '../read/open-export.ts'
import { assetsBeyond } from './beyond-digits.ts'
import { createJournalWriter, JOURNALS } from './journal.ts'
import { knownTypes, readLabels } from './labels.ts'
import { createLineWriter, type Omitted } from './line-writer.ts'
import { type Labels, linesOf } from './lines.ts'
import { assetKey, type Movement } from './movement.ts'
import type { ConvertOptions } from './options.ts'
import type { Period } from './period.ts'
import { openPlaceholders, type Placeholders } from './placeholders.ts'
import type { Preset } from './preset.ts'
import { PRESETS } from './presets/index.ts'
import { transactionsOf } from './transactions.ts'

/** The names of all formats, as `to` takes them. */
export const PRESET_NAMES: readonly string[] = [...PRESETS, ...JOURNALS].map(({ name }) => name)

/** Text of one wallet, or of all. */
type Piece = { wallet: Movement; text: string; lines: number }

/** Makes the text of a format out of transactions. */
type Writer = {
  head: string
  write(movements: readonly Movement[]): Piece[]
  save(): Promise<void>
}

type Opening = {
  options: ConvertOptions
  opened: OpenedExport
  period: Period
  onOmitted: (omitted: Omitted) => void
}

/** Opens the writer of a format. Throws USAGE where there is none of that name, or options do not fit it. */
export async function openWriter(opening: Opening): Promise<Writer> {
  const { to } = opening.options
  const preset = PRESETS.find(({ name }) => name === to)
  if (preset !== undefined) return openCsvWriter(preset, opening)
  const form = JOURNALS.find(({ name }) => name === to)
  if (form !== undefined) return openJournal(form, opening)
  throw new ExportError('USAGE', `--to: found ${to}, expected ${PRESET_NAMES.join(', ')}`)
}

const NO_LABELS: Labels = () => undefined

async function openCsvWriter(preset: Preset, { options, onOmitted }: Opening): Promise<Writer> {
  const { swaps, labels, chainName } = options
  if (swaps === 'pair' && !preset.holdsSwaps)
    throw new ExportError('USAGE', `${preset.title} has no lines of two assets, so that swaps stay apart`, {
      fix: 'Leave --swaps out, or say --swaps off.',
    })
  const pairsSwaps = swaps !== 'off' && preset.holdsSwaps
  const labelOf = labels === undefined ? NO_LABELS : await readLabels(labels, knownTypes(preset))
  const placeholders = await placeholdersFor(preset, options)
  const writer = createLineWriter({ preset, chainName, placeholderOf: placeholders.nameOf, onOmitted })
  return {
    head: writer.header,
    write: (movements) =>
      byWallet(movements).map(([first, ...others]) => {
        const texts = linesOf([first, ...others], { pairsSwaps, labelOf }).flatMap(
          (line) => writer.write(line) ?? [],
        )
        return { wallet: first, text: texts.join(''), lines: texts.length }
      }),
    save: () => placeholders.save(),
  }
}

async function placeholdersFor({ naming }: Preset, { map, out }: ConvertOptions): Promise<Placeholders> {
  const file = map ?? (out === undefined ? undefined : `${out}.assets.csv`)
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

async function openJournal(
  form: (typeof JOURNALS)[number],
  { options, opened, period, onOmitted }: Opening,
): Promise<Writer> {
  // Of a journal, labels are accounts.
  const labelOf = options.labels === undefined ? NO_LABELS : await readLabels(options.labels)
  const beyond =
    form.name === 'beancount' ? await assetsBeyond(28, transactionsOf(opened, period)) : new Set<string>()
  const refuses: Parameters<typeof createJournalWriter>[0]['refuses'] = (asset) =>
    beyond.has(assetKey({ ...asset, tokenId: null }))
      ? 'more than 28 digits, which beancount rounds'
      : undefined
  const writers = new Map<string, ReturnType<typeof createJournalWriter>>()
  /** Each file declares what it uses. */
  const writerOf = (file: string) => {
    const writer = writers.get(file) ?? createJournalWriter({ form, refuses, onOmitted })
    writers.set(file, writer)
    return writer
  }
  return {
    head: '',
    write: (movements) => {
      const parts = options.perWallet ? byWallet(movements) : [movements as [Movement, ...Movement[]]]
      return parts.map((part) => {
        const lines = linesOf(part, { pairsSwaps: false, labelOf })
        const text = writerOf(options.perWallet ? part[0].wallet : '').write(lines)
        return { wallet: part[0], text, lines: text === '' ? 0 : 1 }
      })
    },
    save: async () => {},
  }
}

function byWallet(movements: readonly Movement[]): [Movement, ...Movement[]][] {
  const parts: [Movement, ...Movement[]][] = []
  for (const movement of movements) {
    const last = parts.at(-1)
    if (last?.[0].wallet === movement.wallet) last.push(movement)
    else parts.push([movement])
  }
  return parts
}
