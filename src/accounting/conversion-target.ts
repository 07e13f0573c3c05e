import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { diskError } from '../core/platform/disk.ts'
import { assertNotFolder } from '../core/platform/user-file.ts'
import { JOURNALS } from './journals/index.ts'
import type { Movement } from './movement.ts'
import { walletFileName } from './names/wallet-file-name.ts'
import type { ConvertOptions } from './options.ts'
import type { TextFiles } from './text-files.ts'
import type { OutputFile, TextChunk, TextWriter } from './text-writer.ts'
import { openWorkbooks } from './workbook-target.ts'

/** The destination of a conversion: files, or the caller's `write` function. */
export type ConversionTarget = {
  write(chunk: TextChunk): void
  /** Passes buffered text on if enough has accumulated. Throws OUTPUT_FAILED. */
  flush(): Promise<void>
  /** Ends the output. Files without rows get their header. */
  end(): Promise<void>
}

/** Adds text to the file of a path. */
type AddText = (path: string, chunk: Pick<TextChunk, 'text' | 'lines'>) => void

type WriterHeaders = Pick<TextWriter, 'header' | 'outputFiles'>

/**
 * Opens the target. Throws USAGE if `perWallet` is set without `out`; OUTPUT_FAILED if the folder cannot be created, or
 * if `out` is a folder but must be a file.
 */
export async function openConversionTarget(
  options: ConvertOptions,
  { header, outputFiles }: WriterHeaders,
  files: TextFiles,
): Promise<ConversionTarget> {
  const { out, perWallet = false } = options
  if (out === undefined)
    return options.format === 'xlsx' ? openWorkbookStream(options, header) : openStream(options, header)
  const isFolder = perWallet || outputFiles !== undefined
  if (!isFolder) await assertNotFolder(out)
  else
    await mkdir(out, { recursive: true }).catch((cause: unknown) => {
      throw diskError(`cannot make ${out}`, cause)
    })
  const paths = new Map<string, string>()
  const addPart = ({ file, header: fileHeader }: OutputFile, text: string) => {
    const path = paths.get(file) ?? pathIn(out, file)
    paths.set(file, path)
    files.add(path, text, fileHeader)
  }
  const workbooks =
    options.format === 'xlsx' ? openWorkbooks(options, { header, addBytes: files.addBytes }) : undefined
  const add: AddText = workbooks?.add ?? ((path, { text }) => files.add(path, text, header))
  const extension = extensionOf(options)
  const pathOf = (movement: Movement) =>
    perWallet ? pathIn(out, `${walletFileName(movement)}${extension}`) : out
  return {
    write: (chunk) =>
      chunk.outputFile === undefined
        ? add(pathOf(chunk.wallet), chunk)
        : addPart(chunk.outputFile, chunk.text),
    flush: () => files.flush(),
    end: async () => {
      for (const part of outputFiles ?? []) addPart(part, '')
      if (!isFolder) add(out, { text: '', lines: 0 })
      await workbooks?.end()
    },
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

function requireOneFile({ perWallet }: ConvertOptions): void {
  if (!perWallet) return
  throw new ExportError('USAGE', '--per-wallet writes several files', { fix: 'Name a folder with --out.' })
}

function openWorkbookStream(options: ConvertOptions, header: string): ConversionTarget {
  requireOneFile(options)
  const addBytes = (_: string, bytes: Buffer) => options.writeBytes?.(bytes)
  const { add, end } = openWorkbooks(options, { header, addBytes })
  // A workbook without rows has its header.
  add('', { text: '', lines: 0 })
  return { write: (chunk) => add('', chunk), flush: async () => {}, end }
}

function openStream(options: ConvertOptions, header: string): ConversionTarget {
  requireOneFile(options)
  const { write } = options
  let pending = header
  const flushPending = async () => {
    const text = pending
    pending = ''
    await write?.(text)
  }
  return {
    write: ({ text }) => {
      pending += text
    },
    flush: async () => {
      if (pending.length > STREAM_FLUSH_CHARACTERS) await flushPending()
    },
    end: flushPending,
  }
}
