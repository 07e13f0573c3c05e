import { stat } from 'node:fs/promises'
import type { PriceNeeded } from '../accounting/prices-needed.ts'
import type { TickerNeeded } from '../accounting/tickers-needed.ts'
import { ExportError } from '../core/model/errors.ts'
import { csvRows } from '../core/platform/csv-rows.ts'
import {
  assertNotFolder,
  type ProtectedPaths,
  resolveOutputPath,
  writeNamedFile,
} from '../core/platform/user-file.ts'
import { formatCount } from '../terminal/format.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import { chooseFormat, fileOf } from './options/file-format.ts'
import { openLog } from './options/log.ts'
import { stdoutWriter } from './stdout-writer.ts'

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

type TemplateFile<T> = {
  collect: () => Promise<readonly T[]>
  /** Path of a new file. @default stdout */
  out?: string | undefined
  protectedPaths: ProtectedPaths
}

/** Writes a template to a new file or to stdout. Throws USAGE, before it collects anything, if the file exists. */
export async function writeCsvTemplate<T>(
  template: Template<T>,
  { collect, out, protectedPaths }: TemplateFile<T>,
): Promise<void> {
  const file = fileOf(out)
  chooseFormat(file, { formats: ['csv'], fallback: 'csv' })
  const path = file === undefined ? undefined : await newFilePath(file, template, protectedPaths)
  const needed = await collect()
  const text = csvRows([template.header, ...needed.map(template.toRow)])
  if (path === undefined) return stdoutWriter().write(text)
  await writeNamedFile(path, text)
  openLog({}).info(`${formatCount(needed.length, template.unit)} to fill in: ${out}`)
}

/** Resolves the path of a template. Throws USAGE if the file exists, because cells may be filled in there. */
async function newFilePath(
  out: string,
  { unit, option }: Pick<Template<never>, 'unit' | 'option'>,
  protectedPaths: ProtectedPaths,
): Promise<string> {
  const path = await resolveOutputPath(out, protectedPaths, 'Name a file, or omit --out to write to stdout.')
  await assertNotFolder(out)
  if ((await stat(path).catch(() => undefined)) === undefined) return path
  throw new ExportError('USAGE', `${out} already exists and may contain ${unit}s that you filled in`, {
    fix: `Name another file with --out; with ${option} ${shellQuote(out)} it lists only what is missing there.`,
  })
}
