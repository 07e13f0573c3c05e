import { stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { ExportError } from '../../core/model/errors.ts'
import { openUserFile } from '../../core/platform/open-user-file.ts'
import { inputError } from '../../core/platform/user-file.ts'
import { readRawRecords } from '../../read/csv-records.ts'
import { isHeader } from '../csv/headers.ts'
import type { MultiFileWriter } from '../csv/multi-file-writer.ts'
import type { Preset } from '../csv/preset.ts'
import { JOURNALS } from '../journals/index.ts'
import { MULTI_FILE_WRITERS, PRESETS } from '../presets/index.ts'
import { createCsvChecker, type FormatProblem } from './check-csv.ts'
import { createJournalChecker } from './check-journal.ts'

/**
 * Checks a file against the rules of a format and reports each problem with its line. Returns the number of CSV rows or
 * journal entries, counted as `convert` does. Throws USAGE if there is no such format or the file cannot be read.
 */
export async function checkFile(
  file: string,
  to: string,
  onProblem: (problem: FormatProblem) => void,
): Promise<number> {
  const multiFile = MULTI_FILE_WRITERS.find(({ name }) => name === to)
  await requireOneFile(file, multiFile)
  const preset = PRESETS.find(({ name }) => name === to)
  if (preset !== undefined) return checkCsv(file, createCsvChecker(preset), onProblem)
  if (multiFile !== undefined) return checkCsv(file, createSetChecker(multiFile), onProblem)
  if (!JOURNALS.some(({ name }) => name === to)) throw new ExportError('USAGE', `there is no format ${to}`)
  return checkJournal(file, createJournalChecker(to), onProblem)
}

/** Rejects a folder. For a format of several files, the fix names the files in it. */
async function requireOneFile(file: string, multiFile: MultiFileWriter | undefined): Promise<void> {
  const entry = await stat(file).catch(() => undefined)
  if (!entry?.isDirectory()) return
  const names = multiFile?.files.map((format) => format.file.replace('{wallet}', '0x…'))
  const fix =
    names === undefined
      ? 'Name the file itself.'
      : `Name one of the files in it: ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`
  throw new ExportError('USAGE', `${file} is a folder, and one file is checked at a time`, { fix })
}

/** Creates a checker for a format of several files. The header decides which of them is checked. */
function createSetChecker({ files }: MultiFileWriter): ReturnType<typeof createCsvChecker> {
  let checker: ReturnType<typeof createCsvChecker> | undefined
  return {
    check: (row) => {
      checker ??= createCsvChecker(bestMatch(files, row.cells))
      return checker.check(row)
    },
  }
}

function bestMatch(files: readonly Preset[], cells: readonly string[]): Preset {
  const similarity = ({ columns }: Preset) =>
    columns.filter(([header], at) => isHeader(cells[at], header)).length -
    Math.abs(columns.length - cells.length)
  return files.reduce((best, format) => (similarity(format) > similarity(best) ? format : best))
}

async function checkCsv(
  file: string,
  { check }: ReturnType<typeof createCsvChecker>,
  onProblem: (problem: FormatProblem) => void,
): Promise<number> {
  let rows = 0
  await readRawRecords(file, (row) => {
    rows += 1
    for (const problem of check(row)) onProblem(problem)
  })
  if (rows === 0) onProblem({ line: 1, what: 'the file is empty' })
  return Math.max(0, rows - 1)
}

const JOURNAL_FIX = 'Name a journal.'

async function checkJournal(
  file: string,
  { check, end }: ReturnType<typeof createJournalChecker>,
  onProblem: (problem: FormatProblem) => void,
): Promise<number> {
  let [line, entries] = [0, 0]
  const input = await openUserFile(file, JOURNAL_FIX)
  try {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      line += 1
      if (ENTRY.test(text)) entries += 1
      for (const problem of check(text, line)) onProblem(problem)
    }
  } catch (cause) {
    throw cause instanceof ExportError ? cause : inputError(file, cause, JOURNAL_FIX)
  }
  for (const problem of end()) onProblem(problem)
  return entries
}

/** The first line of an entry. Directives of beancount start with a date too, but are not entries. */
const ENTRY =
  /^\d{4}[-/]\d{2}[-/]\d{2} (?!(open|close|commodity|price|balance|note|document|event|query|custom|pad)\b)/
