import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { diskError } from '../core/disk.ts'
import { ExportError } from '../core/errors.ts'
import { safeText } from './asset-name.ts'
import { JOURNALS } from './journal.ts'
import type { Movement } from './movement.ts'
import type { ConvertOptions } from './options.ts'
import type { TextFiles } from './text-files.ts'
import type { Part, Piece, TextWriter } from './text-writer.ts'

/** Where the text of a conversion goes. */
export type Target = {
  write(piece: Piece): Promise<void>
  /** Files that nothing was written to have their heads. */
  end(): Promise<void>
}

type Heads = Pick<TextWriter, 'head' | 'parts'>

/** Opens it. Throws USAGE where several files have no folder, OUTPUT_FAILED where a folder cannot be made. */
export async function openTarget(
  options: ConvertOptions,
  { head, parts }: Heads,
  files: TextFiles,
): Promise<Target> {
  const { out, perWallet = false, to } = options
  if (out === undefined) return openStream(options, head)
  const paths = new Map<string, string>()
  const addPart = ({ file, head: begins }: Part, text: string) => {
    const path = paths.get(file) ?? join(out, file)
    paths.set(file, path)
    return files.add(path, text, begins)
  }
  const ending = JOURNALS.some(({ name }) => name === to) ? to : 'csv'
  const plainPath = (movement: Movement) => (perWallet ? join(out, walletFile(movement, ending)) : out)
  let isFolder = false
  const makeFolder = async () => {
    if (isFolder) return
    isFolder = true
    await mkdir(out, { recursive: true }).catch((cause: unknown) => {
      throw diskError(`cannot make ${out}`, cause)
    })
  }
  return {
    write: async ({ text, wallet, part }) => {
      if (perWallet || part !== undefined) await makeFolder()
      return part === undefined ? files.add(plainPath(wallet), text, head) : addPart(part, text)
    },
    end: async () => {
      if (parts.length > 0) await makeFolder()
      for (const part of parts) await addPart(part, '')
      if (parts.length === 0 && !perWallet && !isFolder) await files.add(out, '', head)
    },
  }
}

function openStream({ perWallet, write }: ConvertOptions, head: string): Target {
  if (perWallet)
    throw new ExportError('USAGE', '--per-wallet writes several files', {
      fix: 'Name a folder with --out.',
    })
  let isBegun = false
  const put = async (text: string) => {
    if (!isBegun) await write?.(head)
    isBegun = true
    if (text !== '') await write?.(text)
  }
  return { write: ({ text }) => put(text), end: () => put('') }
}

function walletFile({ wallet, label }: Movement, ending: string): string {
  const name = safeText(label ?? '').replace(/[^\p{L}\p{N}._ -]/gu, '')
  return `${name === '' ? '' : `${name}-`}${wallet}.${ending}`
}
