import { isUtf8 } from 'node:buffer'
import { readFile, stat } from 'node:fs/promises'
import type { Complain } from './complaints.ts'

/**
 * Bytes of a job file at most: about 160,000 addresses. The YAML parser takes 50 times that in memory, and more
 * addresses than that belong in an `addressesFile`, which is streamed.
 */
export const JOB_FILE_BYTES = 8 * 1024 * 1024

/** The text of a job file, a byte order mark removed; undefined after a complaint. */
export async function readJobText(file: string, complain: Complain): Promise<string | undefined> {
  const refusal = await refuseFile(file, JOB_FILE_BYTES)
  const bytes = refusal === undefined ? await readFile(file).catch(refusalOf) : refusal
  if (bytes instanceof Uint8Array && isUtf8(bytes)) return new TextDecoder().decode(bytes)
  const at = { file, line: bytes instanceof Uint8Array ? firstBrokenLine(bytes) : 1, column: 1 }
  if (bytes instanceof Uint8Array)
    complain({ place: at, found: 'bytes that are not UTF-8', expected: 'UTF-8 text' })
  else complain({ place: at, ...bytes })
  return undefined
}

/** Why a file can not be read, in a complaint's words. */
export type FileRefusal = { readonly found: string; readonly expected: string }

/** Looks at a file before it is read: it must be there, be a regular file and have at most so many bytes. */
export async function refuseFile(file: string, maxBytes: number): Promise<FileRefusal | undefined> {
  const looked = await stat(file).catch(refusalOf)
  if ('found' in looked) return looked
  if (looked.isDirectory()) return { found: 'a directory', expected: 'a file' }
  if (!looked.isFile()) return { found: 'something that is no regular file', expected: 'a file' }
  if (looked.size <= maxBytes) return undefined
  return { found: `a file of ${looked.size} bytes`, expected: `at most ${maxBytes} bytes` }
}

/** A failed look or read in a complaint's words. */
export function refusalOf(thrown: unknown): FileRefusal {
  const code = (thrown as NodeJS.ErrnoException).code ?? 'UNKNOWN'
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return { found: 'no such file', expected: 'a file that exists' }
  return { found: `a file that can not be read (${code})`, expected: 'a readable file' }
}

function firstBrokenLine(bytes: Uint8Array): number {
  let line = 1
  for (let start = 0; start < bytes.length; line++) {
    const newline = bytes.indexOf(NEWLINE, start)
    const end = newline === -1 ? bytes.length : newline
    if (!isUtf8(bytes.subarray(start, end))) return line
    start = end + 1
  }
  return 1
}

const NEWLINE = 0x0a
