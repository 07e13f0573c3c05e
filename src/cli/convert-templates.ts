import { stat } from 'node:fs/promises'
import { resolveOutputFile } from '../accounting/options.ts'
import { tickersNeeded } from '../accounting/tickers-needed.ts'
import { ExportError } from '../core/model/errors.ts'
import { csvRows } from '../core/platform/csv-rows.ts'
import { assertNotFolder, writeNamedFile } from '../core/platform/user-file.ts'
import { formatCount } from '../terminal/format.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import { openLog } from './options/log.ts'
import { openOutput } from './options/output-argument.ts'
import { stdoutWriter } from './stdout-writer.ts'

type TemplateOptions = Parameters<typeof tickersNeeded>[1] & { out?: string | undefined }

/** A CSV template of an input file of `convert`, with empty cells to fill in. */
type Template = {
  header: readonly string[]
  rowsOf: (output: string, options: TemplateOptions) => Promise<(string | null)[][]>
  /** What a row asks for. */
  unit: string
  /** The option that reads the filled-in file. */
  option: string
}

/** The template of `--tickers`. */
export const TICKER_TEMPLATE: Template = {
  header: ['chain', 'contract', 'ticker', 'name', 'movements', 'volume'],
  rowsOf: async (output, options) =>
    (await tickersNeeded(output, options)).map(({ chain, contract, symbol, movements, volume }) => [
      ...[chain, contract, null, symbol || null],
      ...[String(movements), volume],
    ]),
  unit: 'ticker',
  option: '--tickers',
}

/** Writes a template to a new file or to stdout. */
export async function writeTemplate(
  { header, rowsOf, unit, option }: Template,
  outputArg: string,
  options: TemplateOptions,
): Promise<void> {
  const { output } = await openOutput(outputArg, ['ledger', 'transactions'])
  const path =
    options.out === undefined ? undefined : await newFilePath(options.out, output, { unit, option })
  const rows = await rowsOf(output, options)
  const text = csvRows([header, ...rows])
  if (path === undefined) return stdoutWriter().write(text)
  await writeNamedFile(path, text)
  openLog({}).info(`${formatCount(rows.length, unit)} to fill in: ${options.out}`)
}

/** Resolves the path of a template. Throws USAGE if the file exists, because cells may be filled in there. */
async function newFilePath(
  out: string,
  output: string,
  { unit, option }: Pick<Template, 'unit' | 'option'>,
): Promise<string> {
  // The input files of the options are not passed, because any existing file is rejected below.
  const path = await resolveOutputFile(out, output, {})
  await assertNotFolder(out)
  if ((await stat(path).catch(() => undefined)) === undefined) return path
  throw new ExportError('USAGE', `${out} already exists and may contain ${unit}s that you filled in`, {
    fix: `Name another file with --out; with ${option} ${shellQuote(out)} it lists only what is missing there.`,
  })
}
