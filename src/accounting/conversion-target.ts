import { lstat, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { csvLine } from '../core/platform/csv-line.ts'
import { diskError } from '../core/platform/disk.ts'
import { assertNotFolder } from '../core/platform/user-file.ts'
import { requireSheetRows, type SheetColumn, xlsxBytes } from '../core/platform/xlsx.ts'
import { BALANCE_COLUMNS } from '../ledger/balances/balance-sums.ts'
import { parseCsv } from '../read/csv-records.ts'
import type { Preset, Role } from './csv/preset.ts'
import { JOURNALS, MULTI_FILE_WRITERS, PRESETS } from './formats.ts'
import type { Omitted } from './movement.ts'
import { type ConvertOptions, siblingPath } from './options.ts'
import type { TextFiles } from './text-files.ts'
import type { OutputFile } from './text-writer.ts'

/** The destination of a conversion: files, or the caller's `write` function. */
export type ConversionTarget = {
  /** Adds text of a number of lines to a file. A new file starts with its header. */
  add(file: OutputFile, text: string, lines: number): void
  /** Passes buffered text on if enough has accumulated. Throws OUTPUT_FAILED. */
  flush(): Promise<void>
  end(): Promise<void>
}

/**
 * Opens the target. Throws USAGE if `perWallet` is set without `out`; OUTPUT_FAILED if the folder cannot be created, or
 * if `out` is a folder but must be a file.
 */
export async function openConversionTarget(
  options: ConvertOptions,
  files: TextFiles,
): Promise<ConversionTarget> {
  const { out, perWallet = false, format, to } = options
  if (out === undefined) {
    if (perWallet)
      throw new ExportError('USAGE', '--per-wallet writes several files', {
        fix: 'Name a folder with --out.',
      })
    return format === 'xlsx'
      ? openWorkbooks(options, (_, bytes) => options.writeBytes?.(bytes))
      : openStream(options)
  }
  if (perWallet || MULTI_FILE_WRITERS.some(({ name }) => name === to))
    await mkdir(out, { recursive: true }).catch((cause: unknown) => {
      throw diskError(`cannot make ${out}`, cause)
    })
  else await assertNotFolder(out)
  const paths = new Map([['', out]])
  const pathOf = (name: string) => {
    const path = paths.get(name) ?? pathIn(out, name)
    paths.set(name, path)
    return path
  }
  if (format === 'xlsx') return openWorkbooks(options, (name, bytes) => files.addBytes(pathOf(name), bytes))
  return {
    add: ({ name, header }, text) => files.add(pathOf(name), text, header),
    flush: () => files.flush(),
    end: async () => {},
  }
}

/** The extension, with the dot, of the files that a conversion names. */
export function extensionOf({ to, format }: Pick<ConvertOptions, 'to' | 'format'>): string {
  if (format === 'xlsx') return '.xlsx'
  return JOURNALS.some(({ name }) => name === to) ? `.${to}` : '.csv'
}

/** Returns the path of a file in a folder. Throws VERIFY_FAILED if a damaged wallet address would lead out of the folder. */
function pathIn(folder: string, name: string): string {
  if (!/[/\\\0]/.test(name)) return join(folder, name)
  throw new ExportError(
    'VERIFY_FAILED',
    `${JSON.stringify(name)} is not a file name: wallet_address is not an address`,
  )
}

/** Characters to buffer before a call of `write`; a smaller buffer means more calls. */
const STREAM_FLUSH_CHARACTERS = 64 * 1024

/** Passes the text of the only file to the caller. */
function openStream({ write }: ConvertOptions): ConversionTarget {
  let [pending, isStarted] = ['', false]
  const flushPending = async () => {
    const text = pending
    pending = ''
    await write?.(text)
  }
  return {
    add: ({ header }, text) => {
      pending += isStarted ? text : header + text
      isStarted = true
    },
    flush: async () => {
      if (pending.length > STREAM_FLUSH_CHARACTERS) await flushPending()
    },
    end: flushPending,
  }
}

/**
 * Returns the preset of a workbook. Throws USAGE if the format is for a program, which reads text, or if nothing
 * receives the workbook.
 */
export function requireWorkbookPreset({ to, out, writeBytes }: ConvertOptions): Preset {
  const preset = PRESETS.find(({ name }) => name === to)
  const names = PRESETS.filter(({ isForPeople }) => isForPeople).map(({ name }) => name)
  if (preset?.isForPeople !== true)
    throw new ExportError('USAGE', `${to} is read by a program, which expects text and not a workbook`, {
      fix: `Omit --format xlsx and name a file that does not end in .xlsx, or use --to ${names.join(' or ')}.`,
    })
  if (out !== undefined || writeBytes !== undefined) return preset
  throw new ExportError('USAGE', '--format xlsx writes a file', { fix: 'Name the file with --out.' })
}

/** Collects the CSV text of workbooks, and finally passes them to `addBytes`. */
function openWorkbooks(
  options: ConvertOptions,
  addBytes: (name: string, bytes: Buffer) => Promise<void> | void,
): ConversionTarget {
  const { columns } = requireWorkbookPreset(options)
  const sheets = new Map<string, { parts: string[]; rows: number }>()
  return {
    add: ({ name, header }, text, lines) => {
      const sheet = sheets.get(name) ?? { parts: [header], rows: 0 }
      sheet.parts.push(text)
      sheet.rows += lines
      requireSheetRows(sheet.rows)
      sheets.set(name, sheet)
    },
    flush: async () => {},
    end: async () => {
      for (const [file, { parts }] of sheets) {
        const [names = [], ...rows] = parseCsv(parts.join(''))
        const sheetColumns = columns.map(([, role], at) => columnOf(role, names[at]))
        await addBytes(file, await xlsxBytes([{ name: options.to, columns: sheetColumns, rows }]))
      }
    },
  }
}

const columnOf = (role: Role, name = ''): SheetColumn => ({
  name,
  kind: role === 'date' ? 'time' : NUMBERS.has(role) ? 'number' : 'text',
})

const NUMBERS: ReadonlySet<Role> = new Set<Role>([
  'amount',
  'quoteAmount',
  'inAmount',
  'outAmount',
  'feeAmount',
  'price',
  'worth',
  'inWorth',
  'outWorth',
  'feeWorth',
])

const OMITTED_COLUMNS = [
  'reason',
  'chain_id',
  'block_timestamp',
  'transaction_hash',
  'entry_id',
  ...BALANCE_COLUMNS,
  'value',
]

const HEADER = csvLine(OMITTED_COLUMNS)

/** Counts omitted movements by reason. With `out`, also lists them in `<out>.omitted.csv`. */
export function openOmissions(out: string | undefined, files: TextFiles) {
  const omitted: Record<string, number> = {}
  const path = out === undefined ? undefined : siblingPath(out, 'omitted.csv')
  return {
    add: ({ movement, value, reason }: Omitted) => {
      omitted[reason] = (omitted[reason] ?? 0) + 1
      if (path === undefined) return
      const { chain, time, transaction, entry, wallet, label, asset } = movement
      const assetCells = [asset.type, asset.address, asset.symbol, asset.tokenId, String(value)]
      const row = [reason, chain, time, transaction, entry, wallet, label, ...assetCells]
      files.add(path, csvLine(row), HEADER)
    },
    /** Removes the list of an earlier conversion if this one succeeded and omitted nothing. Throws OUTPUT_FAILED. */
    removeStaleList: async () => {
      if (path !== undefined && Object.keys(omitted).length === 0) await removeStaleList(path, HEADER)
    },
    summary: () => ({ omitted, omittedFile: Object.keys(omitted).length > 0 ? path : undefined }),
  }
}

/** Removes the list of an earlier conversion, which has this header. Throws OUTPUT_FAILED. */
export async function removeStaleList(path: string, header: string): Promise<void> {
  if (!(await isListWith(path, header))) return
  await rm(path, { force: true }).catch((cause: unknown) => {
    throw diskError(`cannot remove ${path}, the list of an earlier conversion`, cause)
  })
}

/** Whether the path is a list written by a conversion: a regular file, not a link, with the header of such lists. */
async function isListWith(path: string, header: string): Promise<boolean> {
  const entry = await lstat(path).catch(() => undefined)
  if (!entry?.isFile()) return false
  const file = await open(path).catch(() => undefined)
  try {
    const expected = Buffer.from(header)
    const found = await file?.read(Buffer.alloc(expected.length), 0, expected.length, 0)
    return found?.buffer.equals(expected) ?? false
  } finally {
    await file?.close()
  }
}
