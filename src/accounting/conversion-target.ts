import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { diskError } from '../core/platform/disk.ts'
import { assertNotFolder } from '../core/platform/user-file.ts'
import { JOURNALS } from './journals/index.ts'
import type { Movement } from './movement.ts'
import { safeText } from './names/asset-name.ts'
import type { ConvertOptions } from './options.ts'
import type { TextFiles } from './text-files.ts'
import type { OutputFile, TextChunk, TextWriter } from './text-writer.ts'

/** Where the text of a conversion goes. */
export type ConversionTarget = {
  write(chunk: TextChunk): void
  /** Hands on what was written, once it is enough. Throws OUTPUT_FAILED. */
  flush(): Promise<void>
  /** Files that nothing was written to have their heads. */
  end(): Promise<void>
}

type WriterHeaders = Pick<TextWriter, 'header' | 'outputFiles'>

/** Opens it. Throws USAGE where several files have no folder, OUTPUT_FAILED where that cannot be made, or a file is one. */
export async function openConversionTarget(
  options: ConvertOptions,
  { header, outputFiles }: WriterHeaders,
  files: TextFiles,
): Promise<ConversionTarget> {
  const { out, perWallet = false, to } = options
  if (out === undefined) return openStream(options, header)
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
  const extension = JOURNALS.some(({ name }) => name === to) ? to : 'csv'
  const pathOf = (movement: Movement) => (perWallet ? pathIn(out, walletFile(movement, extension)) : out)
  return {
    write: ({ text, wallet, outputFile }) =>
      outputFile === undefined ? files.add(pathOf(wallet), text, header) : addPart(outputFile, text),
    flush: () => files.flush(),
    end: async () => {
      for (const part of outputFiles ?? []) addPart(part, '')
      if (!isFolder) files.add(out, '', header)
    },
  }
}

/** The path of a file in a folder. Throws VERIFY_FAILED where a wallet of the export would lead out of it. */
function pathIn(folder: string, name: string): string {
  if (!/[/\\\0]/.test(name)) return join(folder, name)
  throw new ExportError(
    'VERIFY_FAILED',
    `${JSON.stringify(name)} is no file name: wallet_address is not an address`,
  )
}

/** Letters that are handed on at once: fewer make more calls. */
const STREAM_FLUSH_CHARACTERS = 64 * 1024

function openStream({ perWallet, write }: ConvertOptions, head: string): ConversionTarget {
  if (perWallet)
    throw new ExportError('USAGE', '--per-wallet writes several files', {
      fix: 'Name a folder with --out.',
    })
  let pending = head
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

/** Disks take names of 255 bytes, of which a letter may have four. */
const MAX_NAME_CHARACTERS = 45

function walletFile({ wallet, label }: Movement, extension: string): string {
  const sanitized = safeText(label ?? '').replace(/[^\p{L}\p{N}._ -]/gu, '')
  const name = [...sanitized].slice(0, MAX_NAME_CHARACTERS).join('')
  return `${name === '' ? '' : `${name}-`}${wallet}.${extension}`
}
