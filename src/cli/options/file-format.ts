import { extname } from 'node:path'
import { usageError } from '../usage-error.ts'

/** Formats by the file endings that name them, also formats that no command writes. */
const FORMATS_BY_ENDING: Readonly<Record<string, string>> = {
  '.csv': 'csv',
  '.json': 'json',
  '.xlsx': 'xlsx',
  '.xls': 'xls',
  '.ods': 'ods',
  '.html': 'html',
  '.htm': 'html',
  '.pdf': 'pdf',
}

/** A value of `--out` that stands for stdout. */
const STDOUT = '-'

/** The file of `--out`; undefined if the result goes to stdout. */
export const fileOf = (out: string | undefined): string | undefined => (out === STDOUT ? undefined : out)

/** The format that the ending of a file names; undefined if it names none, or if there is no file. */
export const formatOfEnding = (file: string | undefined): string | undefined =>
  FORMATS_BY_ENDING[extname(file ?? '').toLowerCase()]

type FormatOptions<F extends string> = {
  /** The value of `--format`. */
  given?: F | undefined
  /** The formats that can be written to a file. */
  formats: readonly F[]
  /** The format without `--format` and an ending that names one. */
  fallback: F
  /** How to get a file of another format, by this format. */
  fixes?: Readonly<Record<string, string>>
  /** The fix for the other formats. @default the endings of `formats` */
  fix?: string
  /** Whether files may have endings that name no format. @default false, except with `--format` */
  allowsAnyEnding?: boolean
}

/**
 * Returns the format of a file: the one of `--format`, or the one that the ending names; for a file without an ending,
 * the fallback. Throws USAGE if they contradict each other, if no such file can be written, or if the ending is unknown.
 */
export function chooseFormat<const F extends string>(
  file: string | undefined,
  { given, formats, fallback, fixes = {}, fix, allowsAnyEnding = given !== undefined }: FormatOptions<F>,
): F {
  const named = formatOfEnding(file)
  const ending = extname(file ?? '')
  if (named === undefined) {
    if (ending === '' || allowsAnyEnding || isText(fallback, ending)) return given ?? fallback
    throw usageError(`${file} ends in ${ending}, which names no format`, fix ?? endingsFix(formats))
  }
  const format = formats.find((one) => one === named)
  if (format === undefined)
    throw usageError(
      `${file} ends in ${ending}, but the result is no ${named.toUpperCase()} file`,
      fixes[named] ?? fix ?? endingsFix(formats),
    )
  if (given === undefined || given === format) return format
  throw usageError(
    `${file} ends in ${ending}, but --format is ${given}`,
    'Omit --format, or name a file with another ending.',
  )
}

/** Whether a file has the ending of text, and the fallback is a table for people. */
const isText = (fallback: string, ending: string) => fallback === 'table' && ending.toLowerCase() === '.txt'

function endingsFix(formats: readonly string[]): string {
  const endings = Object.keys(FORMATS_BY_ENDING).filter((ending) =>
    formats.includes(FORMATS_BY_ENDING[ending] ?? ''),
  )
  return `Name a file that ends in ${endings.join(' or ')}.`
}
