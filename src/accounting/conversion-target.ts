import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { diskError } from '../core/platform/disk.ts'
import { refuseFolder } from '../core/platform/user-file.ts'
import { JOURNALS } from './journals/index.ts'
import type { Movement } from './movement.ts'
import { safeText } from './names/asset-name.ts'
import type { ConvertOptions } from './options.ts'
import type { TextFiles } from './text-files.ts'
import type { Part, Piece, TextWriter } from './text-writer.ts'

/** Where the text of a conversion goes. */
export type Target = {
  write(piece: Piece): void
  /** Hands on what was written, once it is enough. Throws OUTPUT_FAILED. */
  flush(): Promise<void>
  /** Files that nothing was written to have their heads. */
  end(): Promise<void>
}

type Heads = Pick<TextWriter, 'head' | 'parts'>

/** Opens it. Throws USAGE where several files have no folder, OUTPUT_FAILED where that cannot be made, or a file is one. */
export async function openTarget(
  options: ConvertOptions,
  { head, parts }: Heads,
  files: TextFiles,
): Promise<Target> {
  const { out, perWallet = false, to } = options
  if (out === undefined) return openStream(options, head)
  const isFolder = perWallet || parts !== undefined
  if (!isFolder) await refuseFolder(out)
  else
    await mkdir(out, { recursive: true }).catch((cause: unknown) => {
      throw diskError(`cannot make ${out}`, cause)
    })
  const paths = new Map<string, string>()
  const addPart = ({ file, head: begins }: Part, text: string) => {
    const path = paths.get(file) ?? pathIn(out, file)
    paths.set(file, path)
    files.add(path, text, begins)
  }
  const ending = JOURNALS.some(({ name }) => name === to) ? to : 'csv'
  const plainPath = (movement: Movement) => (perWallet ? pathIn(out, walletFile(movement, ending)) : out)
  return {
    write: ({ text, wallet, part }) =>
      part === undefined ? files.add(plainPath(wallet), text, head) : addPart(part, text),
    flush: () => files.flush(),
    end: async () => {
      for (const part of parts ?? []) addPart(part, '')
      if (!isFolder) files.add(out, '', head)
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
const STREAM_LETTERS = 64 * 1024

function openStream({ perWallet, write }: ConvertOptions, head: string): Target {
  if (perWallet)
    throw new ExportError('USAGE', '--per-wallet writes several files', {
      fix: 'Name a folder with --out.',
    })
  let waiting = head
  const handOn = async () => {
    const text = waiting
    waiting = ''
    await write?.(text)
  }
  return {
    write: ({ text }) => {
      waiting += text
    },
    flush: async () => {
      if (waiting.length > STREAM_LETTERS) await handOn()
    },
    end: handOn,
  }
}

/** Disks take names of 255 bytes, of which a letter may have four. */
const NAME_CHARACTERS = 45

function walletFile({ wallet, label }: Movement, ending: string): string {
  const kept = safeText(label ?? '').replace(/[^\p{L}\p{N}._ -]/gu, '')
  const name = [...kept].slice(0, NAME_CHARACTERS).join('')
  return `${name === '' ? '' : `${name}-`}${wallet}.${ending}`
}
