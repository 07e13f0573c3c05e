import { ExportError } from '../core/model/errors.ts'
import { openExport } from '../read/open-export.ts'
import { type LineWriter, omitted } from './csv/import-row-writer.ts'
import type { FileForm, FileSet, Place } from './csv/multi-file-writer.ts'
import { openFacts } from './csv/transaction-facts.ts'
import { programTypes } from './csv/types.ts'
import type { NumberRules } from './format-amount.ts'
import { readLabels } from './labels.ts'
import type { Movement } from './movement.ts'
import { type Refuses, refusalOfSums } from './precision-limits.ts'
import { lineWriterFor, type Opening, type Part, type Piece, type TextWriter } from './text-writer.ts'

/** Opens the writer of a program that takes several files at once. Throws USAGE where options do not fit it. */
export async function openSetWriter(set: FileSet, opening: Opening): Promise<TextWriter> {
  const { options, output } = opening
  refuseMisfits(set, opening)
  const labels = await readLabels(options.labels, programTypes(set.files.filter(hasTypes)))
  const facts = set.needsTransactions ? openFacts(await openExport(output)) : undefined
  const writers = await writersFor(set, opening)
  const partOf = partNamer(writers)
  const newFilesOf = firstFiles(set, partOf)
  const piecesOf = pieceMaker({ ...opening, writers, partOf })
  return {
    head: '',
    parts: set.isPerWallet ? [] : set.files.map((form) => partOf(form, '')),
    write: async (movements) => {
      const known = await facts?.of(movements[0]?.transaction ?? '')
      const places = set.placesOf(movements, { labelOf: labels.labelOf, facts: known })
      return [...newFilesOf(movements), ...places.flatMap(piecesOf)]
    },
    labelFindings: labels.findings,
    close: async () => facts?.close(),
  }
}

/** The writers of all files; the ledger is read once more for those of the same rules together. */
async function writersFor({ files }: FileSet, opening: Opening): Promise<Map<FileForm, LineWriter>> {
  const refusals = new Map<NumberRules, Refuses>()
  const writers = new Map<FileForm, LineWriter>()
  for (const form of files) {
    const refuses = refusals.get(form.numbers) ?? (await refusalOfSums(form, opening))
    refusals.set(form.numbers, refuses)
    writers.set(form, lineWriterFor(form, opening, { refuses }))
  }
  return writers
}

/** The file of a wallet, and what it begins with. */
type PartOf = (form: FileForm, wallet: string) => Part

function partNamer(writers: ReadonlyMap<FileForm, LineWriter>): PartOf {
  return (form, wallet) => ({
    file: form.file.replace('{wallet}', () => wallet),
    head: writers.get(form)?.header ?? '',
  })
}

type PieceMaking = Pick<Opening, 'onOmitted'> & {
  writers: ReadonlyMap<FileForm, LineWriter>
  partOf: PartOf
}

/** Makes the text of a line where it stands; none where it stands nowhere, or another tells of it already. */
function pieceMaker({ writers, partOf, onOmitted }: PieceMaking): (place: Place) => Piece[] {
  return (place) => {
    const { movements } = place.line
    if ('reason' in place) {
      for (const movement of movements) onOmitted(omitted(movement, place.reason))
      return []
    }
    const text = writers.get(place.form)?.write(place.line)
    if (text === undefined || place.isTold) return []
    const [wallet] = movements
    return [{ wallet, text, lines: 1, part: partOf(place.form, wallet.wallet) }]
  }
}

/** A wallet that is met for the first time has all its files. */
function firstFiles(
  { files, isPerWallet }: FileSet,
  partOf: PartOf,
): (movements: readonly Movement[]) => Piece[] {
  const begun = new Set<string>()
  return (movements) =>
    movements.flatMap((movement) => {
      if (!isPerWallet || begun.has(movement.wallet)) return []
      begun.add(movement.wallet)
      return files.map((form) => ({
        ...{ wallet: movement, text: '', lines: 0, part: partOf(form, movement.wallet) },
      }))
    })
}

const hasTypes = ({ columns }: FileForm) => columns.some(([, role]) => role === 'type')

function refuseMisfits(set: FileSet, { options, prices, opened }: Opening): void {
  const { out, perWallet, labels } = options
  const refuse = (what: string, fix: string) => new ExportError('USAGE', `${set.name}: ${what}`, { fix })
  if (out === undefined) throw refuse('it takes several files', 'Name a folder for them with --out.')
  if (perWallet && !set.isPerWallet)
    throw refuse('its files are of all wallets together', 'Leave --per-wallet out.')
  if (set.files.some(({ needsPrices }) => needsPrices) && prices === undefined)
    throw refuse(
      'it takes no line without a price',
      'List what is needed with --prices-needed, fill in the column price, and name the file with --prices.',
    )
  if (labels !== undefined && !set.files.some(hasTypes))
    throw refuse('its lines have no type', 'Leave --labels out.')
  if (set.needsTransactions && opened.manifest.tables.transactions === undefined)
    throw refuse(
      'it needs the table of transactions, which this export does not have',
      'Add transactions to the tables of the job, and run it again with --fresh.',
    )
}
