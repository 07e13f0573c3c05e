import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { ExportError } from '../../core/model/errors.ts'
import { inputFault } from '../../core/platform/user-file.ts'
import { csvRows } from '../../read/csv-records.ts'
import { isHeader } from '../csv/headers.ts'
import type { FileSet } from '../csv/multi-file-writer.ts'
import type { Preset } from '../csv/preset.ts'
import { JOURNALS } from '../journals/index.ts'
import { FILE_SETS, PRESETS } from '../presets/index.ts'
import { createCsvChecker, type Mistake } from './check-csv.ts'
import { createJournalChecker } from './check-journal.ts'

/**
 * Checks a file against the rules of a format, and reports each mistake with its line. Resolves with the lines below the header,
 * or the transactions of a journal, as a conversion counts them. Throws USAGE where there is no such format, or the file cannot be read.
 */
export async function checkFile(
  file: string,
  to: string,
  onMistake: (mistake: Mistake) => void,
): Promise<number> {
  const set = FILE_SETS.find(({ name }) => name === to)
  await requireOneFile(file, set)
  const preset = PRESETS.find(({ name }) => name === to)
  if (preset !== undefined) return checkCsv(file, createCsvChecker(preset), onMistake)
  if (set !== undefined) return checkCsv(file, createSetChecker(set), onMistake)
  if (!JOURNALS.some(({ name }) => name === to)) throw new ExportError('USAGE', `there is no format ${to}`)
  return checkJournal(file, createJournalChecker(to), onMistake)
}

/** A folder of several files has one that may be meant. */
async function requireOneFile(file: string, set: FileSet | undefined): Promise<void> {
  const entry = await stat(file).catch(() => undefined)
  if (!entry?.isDirectory()) return
  const names = set?.files.map((form) => form.file.replace('{wallet}', '0x…'))
  const fix =
    names === undefined
      ? 'Name the file itself.'
      : `Name one of the files in it: ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`
  throw new ExportError('USAGE', `${file} is a folder, and one file is checked at a time`, { fix })
}

/** Which of a program's files it is, the header says. */
function createSetChecker({ files }: FileSet): ReturnType<typeof createCsvChecker> {
  let checker: ReturnType<typeof createCsvChecker> | undefined
  return {
    check: (row) => {
      checker ??= createCsvChecker(likest(files, row.cells))
      return checker.check(row)
    },
  }
}

function likest(files: readonly Preset[], cells: readonly string[]): Preset {
  const alike = ({ columns }: Preset) =>
    columns.filter(([header], at) => isHeader(cells[at], header)).length -
    Math.abs(columns.length - cells.length)
  return files.reduce((best, form) => (alike(form) > alike(best) ? form : best))
}

async function checkCsv(
  file: string,
  { check }: ReturnType<typeof createCsvChecker>,
  onMistake: (mistake: Mistake) => void,
): Promise<number> {
  let rows = 0
  await csvRows(file, (row) => {
    rows += 1
    for (const mistake of check(row)) onMistake(mistake)
  })
  if (rows === 0) onMistake({ line: 1, what: 'the file is empty' })
  return Math.max(0, rows - 1)
}

async function checkJournal(
  file: string,
  { check, end }: ReturnType<typeof createJournalChecker>,
  onMistake: (mistake: Mistake) => void,
): Promise<number> {
  let [line, entries] = [0, 0]
  try {
    for await (const text of createInterface({
      input: createReadStream(file),
      crlfDelay: Number.POSITIVE_INFINITY,
    })) {
      line += 1
      if (ENTRY.test(text)) entries += 1
      for (const mistake of check(text, line)) onMistake(mistake)
    }
  } catch (cause) {
    throw inputFault(file, cause, 'Name a journal.')
  }
  for (const mistake of end()) onMistake(mistake)
  return entries
}

/** The first line of a transaction; beancount's directives begin with a day as well. */
const ENTRY =
  /^\d{4}[-/]\d{2}[-/]\d{2} (?!(open|close|commodity|price|balance|note|document|event|query|custom|pad)\b)/
