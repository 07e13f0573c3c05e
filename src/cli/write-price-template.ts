import { stat } from 'node:fs/promises'
import type { PriceNeeded } from '../accounting/prices-needed.ts'
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
import { openLog } from './options/log.ts'
import { stdoutWriter } from './stdout-writer.ts'

type TemplateOptions = { out?: string | undefined; protectedPaths: ProtectedPaths }

/** Writes a CSV template for `--prices` with empty prices to a new file, or to stdout. */
export async function writePriceTemplate(
  collect: () => Promise<PriceNeeded[]>,
  { out, protectedPaths }: TemplateOptions,
): Promise<void> {
  const path = out === undefined ? undefined : await newFilePath(out, protectedPaths)
  const needed = await collect()
  const rows = needed.map(({ date, asset, symbol }) => [date, asset, null, null, symbol || null])
  const text = csvRows([['date', 'asset', 'currency', 'price', 'symbol'], ...rows])
  if (path === undefined) return stdoutWriter().write(text)
  await writeNamedFile(path, text)
  openLog({}).info(`${formatCount(needed.length, 'price')} to fill in: ${out}`)
}

/** Resolves the path of a price template. Throws USAGE if the file exists, because prices may be filled in there. */
async function newFilePath(out: string, protectedPaths: ProtectedPaths): Promise<string> {
  const path = await resolveOutputPath(out, protectedPaths, 'Name a file, or omit --out to write to stdout.')
  await assertNotFolder(out)
  if ((await stat(path).catch(() => undefined)) === undefined) return path
  throw new ExportError('USAGE', `${out} already exists and may contain prices that you filled in`, {
    fix: `Name another file with --out; with --prices ${shellQuote(out)} it lists only what is missing there.`,
  })
}
