import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ExportError } from '../core/errors.ts'
import { safeText } from './asset-name.ts'
import { JOURNALS } from './journal.ts'
import type { Movement } from './movement.ts'
import type { ConvertOptions } from './options.ts'
import type { TextFiles } from './text-files.ts'

/** Where the text of a conversion goes. */
export type Target = {
  write(text: string, of: { movement: Movement; head: string }): Promise<void>
  /** A file that nothing was written to has its header. */
  end(head: string): Promise<void>
}

/** Opens it. Throws USAGE where several files have no folder. */
export async function openTarget(
  { out, perWallet = false, write, to }: ConvertOptions,
  files: TextFiles,
): Promise<Target> {
  if (out === undefined) {
    if (perWallet)
      throw new ExportError('USAGE', '--per-wallet writes several files', {
        fix: 'Name a folder with --out.',
      })
    let isBegun = false
    const put = async (head: string, text: string) => {
      if (!isBegun) await write?.(head)
      isBegun = true
      if (text !== '') await write?.(text)
    }
    return { write: (text, { head }) => put(head, text), end: (head) => put(head, '') }
  }
  if (!perWallet)
    return { write: (text, { head }) => files.add(out, text, head), end: (head) => files.add(out, '', head) }
  await mkdir(out, { recursive: true })
  const ending = JOURNALS.some(({ name }) => name === to) ? to : 'csv'
  const pathOf = ({ wallet, label }: Movement) => {
    const name = safeText(label ?? '').replace(/[^\p{L}\p{N}._ -]/gu, '')
    return join(out, `${name === '' ? '' : `${name}-`}${wallet}.${ending}`)
  }
  return { write: (text, { movement, head }) => files.add(pathOf(movement), text, head), end: async () => {} }
}
