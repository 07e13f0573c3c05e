import { execFile } from 'node:child_process'
import { constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { copyFromPipe, type ParquetFile } from './parquet.ts'

/** A Parquet file that is made of lines while there are more to come. */
export type ParquetFeed = {
  /** Resolves when the bytes are taken: what held them may be used again. Rejects where the copy has ended. */
  write(lines: Buffer | string): Promise<void>
  /** There are no more lines. Resolves with the file, undefined where it has to be made in another way. */
  finish(): Promise<{ rows: number; bytes: number; sha256: string } | undefined>
  /** Resolves when nothing of it is under way any more. */
  abandon(): Promise<void>
}

/** Makes named pipes; false where there are none: then nothing can be fed. */
export async function makePipes(paths: readonly string[]): Promise<boolean> {
  return promisify(execFile)('mkfifo', ['-m', '600', ...paths]).then(
    () => true,
    () => false,
  )
}

/** Begins a copy that reads its lines, the header first, from a named pipe. */
export async function openParquetFeed(
  pipe: string,
  file: Omit<ParquetFile, 'size' | 'signal'>,
): Promise<ParquetFeed> {
  const stop = new AbortController()
  const copy = copyFromPipe({ ...file, staged: pipe, signal: stop.signal }).catch(() => undefined)
  const writer = await openWriter(pipe, copy)
  return {
    write: (lines) =>
      new Promise((resolve, reject) => {
        if (writer === undefined) return reject(new Error('the copy has ended'))
        writer.write(lines, (fault) => (fault ? reject(fault) : resolve()))
      }),
    finish: () => {
      writer?.destroy()
      return copy
    },
    abandon: async () => {
      stop.abort()
      writer?.destroy()
      await copy
    },
  }
}

/** A moment, in milliseconds. */
const MOMENT = 2

/**
 * The end of the pipe that is written to, once somebody reads from the other: a pipe without a reader cannot be opened
 * without waiting, and whoever waits takes one of Node's few threads. Undefined where the copy ends before.
 */
async function openWriter(pipe: string, copy: Promise<unknown>): Promise<Socket | undefined> {
  let hasEnded = false
  void copy.finally(() => {
    hasEnded = true
  })
  while (!hasEnded) {
    const fd = openIfRead(pipe)
    if (fd !== undefined) return new Socket({ fd, readable: false, writable: true }).on('error', () => {})
    await setTimeout(MOMENT)
  }
  return undefined
}

function openIfRead(pipe: string): number | undefined {
  try {
    return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    // Whatever the reason, it is tried again as long as somebody may wait at the other end.
    return undefined
  }
}
