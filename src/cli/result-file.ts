import { dirname, extname } from 'node:path'
import type { PriceNeeded, TickerNeeded } from '../accounting/needed.ts'
import { csvRows } from '../core/platform/csv-rows.ts'
import { entryAt } from '../core/platform/entry.ts'
import {
  assertNotFolder,
  type ProtectedPaths,
  resolveOutputPath,
  writeNamedFile,
} from '../core/platform/user-file.ts'
import { formatCount } from '../terminal/format.ts'
import { printable } from '../terminal/log.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import type { ResultSink } from '../terminal/write-query-result.ts'
import { openLog } from './options/log.ts'
import { usageError } from './usage-error.ts'

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

/** The file of `--out`; undefined if the result goes to stdout, for which `-` stands. */
export const fileOf = (out: string | undefined): string | undefined => (out === '-' ? undefined : out)

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
  {
    given,
    formats,
    fallback,
    fixes = {},
    fix = endingsFix(formats),
    allowsAnyEnding = given !== undefined,
  }: FormatOptions<F>,
): F {
  const named = formatOfEnding(file)
  const ending = extname(file ?? '')
  if (named === undefined) {
    if (ending === '' || allowsAnyEnding || isText(fallback, ending)) return given ?? fallback
    throw usageError(`${file} ends in ${ending}, which names no format`, fix)
  }
  const format = formats.find((name) => name === named)
  if (format === undefined)
    throw usageError(
      `${file} ends in ${ending}, but the result is no ${named.toUpperCase()} file`,
      fixes[named] ?? fix,
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

/** A result that is written to a file, or to stdout. */
type ResultFile = ResultSink & {
  writeBytes(bytes: Uint8Array): Promise<void>
  /** Replaces the file by what was written. */
  close(): Promise<void>
}

type ResultFileOptions = {
  /** @default stdout */
  file: string | undefined
  protectedPaths: ProtectedPaths
  isBinary?: boolean
}

/**
 * Opens the file of a result, or stdout. Throws USAGE if the file is protected, or if binary data would go to a terminal;
 * OUTPUT_FAILED if it is a folder.
 */
export async function openResultFile({
  file,
  protectedPaths,
  isBinary = false,
}: ResultFileOptions): Promise<ResultFile> {
  if (file === undefined)
    return {
      ...stdoutWriter(),
      writeBytes: isBinary ? workbookWriter() : async () => {},
      close: async () => {},
    }
  const path = await resolveFile(file, protectedPaths)
  const parts: Uint8Array[] = []
  return {
    write: (text) => void parts.push(Buffer.from(text)),
    writeBytes: async (bytes) => void parts.push(bytes),
    close: () => writeNamedFile(path, Buffer.concat(parts)),
  }
}

async function resolveFile(file: string, protectedPaths: ProtectedPaths): Promise<string> {
  const path = await resolveOutputPath(file, protectedPaths, 'Name a file, or omit --out to write to stdout.')
  await assertNotFolder(file)
  await announceFolder(file)
  return path
}

/** Says which folder will be created for a file, because its name may contain a mistake. */
export async function announceFolder(file: string): Promise<void> {
  const folder = dirname(file)
  if (!(await exists(folder))) openLog({}).info(`creating the folder ${folder}`)
}

/** Returns a function that writes a workbook to stdout. Throws USAGE if that is a terminal. */
export function workbookWriter(): (bytes: Uint8Array) => Promise<void> {
  if (process.stdout.isTTY)
    throw usageError('a workbook cannot be shown on a terminal', 'Name a file with --out, or use a pipe.')
  return (bytes) => new Promise((resolve) => process.stdout.write(bytes, () => resolve()))
}

/**
 * Writes to stdout with back-pressure. Pipes and files receive the exact text. On a terminal, control characters are
 * replaced by visible ones, because names and metadata are untrusted. Errors of stdout are handled by `startCli`.
 */
export function stdoutWriter(): ResultSink {
  const { stdout } = process
  return {
    write: async (text) => {
      if (!stdout.write(stdout.isTTY ? printable(text) : text)) await waitForDrain(stdout)
    },
    width: stdout.isTTY ? stdout.columns : undefined,
  }
}

function waitForDrain(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      for (const event of WRITABLE_EVENTS) stream.off(event, finish)
      resolve()
    }
    for (const event of WRITABLE_EVENTS) stream.on(event, finish)
  })
}

const WRITABLE_EVENTS = ['drain', 'close', 'error']

/** A CSV file with empty cells to fill in, which an option reads afterwards. */
type Template<T> = {
  header: readonly string[]
  toRow: (needed: T) => readonly (string | null)[]
  /** What a row asks for. */
  unit: string
  /** The option that reads the filled-in file. */
  option: string
}

export const PRICE_TEMPLATE: Template<PriceNeeded> = {
  header: ['date', 'chain', 'asset', 'currency', 'price', 'symbol'],
  toRow: ({ date, chain, asset, symbol }) => [date, chain, asset, null, null, symbol || null],
  unit: 'price',
  option: '--prices',
}

export const TICKER_TEMPLATE: Template<TickerNeeded> = {
  header: ['chain', 'contract', 'ticker', 'name', 'movements', 'volume'],
  toRow: ({ chain, contract, symbol, movements, volume }) => [
    chain,
    contract,
    null,
    symbol || null,
    String(movements),
    volume,
  ],
  unit: 'ticker',
  option: '--tickers',
}

/**
 * Writes a template to a new file or to stdout. Throws USAGE, before it collects anything, if the file exists, because cells
 * may be filled in there.
 */
export async function writeCsvTemplate<T>(
  { header, toRow, unit, option }: Template<T>,
  { file, protectedPaths }: Pick<ResultFileOptions, 'file' | 'protectedPaths'>,
  collect: () => Promise<readonly T[]>,
): Promise<void> {
  chooseFormat(file, { formats: ['csv'], fallback: 'csv' })
  const path = file === undefined ? undefined : await resolveFile(file, protectedPaths)
  if (file !== undefined && path !== undefined && (await exists(path)))
    throw usageError(
      `${file} already exists and may contain ${unit}s that you filled in`,
      `Name another file with --out; with ${option} ${shellQuote(file)} it lists only what is missing there.`,
    )
  const needed = await collect()
  const text = csvRows([header, ...needed.map(toRow)])
  if (path === undefined) return stdoutWriter().write(text)
  await writeNamedFile(path, text)
  openLog({}).info(`${formatCount(needed.length, unit)} to fill in: ${file}`)
}

export const exists = async (path: string) => (await entryAt(path)) !== undefined
