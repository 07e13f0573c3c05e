import { execFile } from 'node:child_process'
import { closeSync, constants, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { copyFromPipe, type ParquetPipe } from './parquet.ts'

/** A Parquet file that is made of lines while there are more to come. */
export type ParquetFeed = {
  /** Resolves when the bytes are taken: what held them may be used again. Rejects where the copy has ended. */
  write(lines: Buffer | string): Promise<void>
  /** There are no more lines. Resolves with the file, undefined where it has to be made in another way. */
  finish(): Promise<{ rows: number; bytes: number; sha256: string } | undefined>
  /** Resolves when nothing of it is under way any more, and the pipe is gone. What `finish` resolved with stays. */
  abandon(): Promise<void>
}

/** Makes named pipes; false where there are none: then nothing can be fed. */
export async function makePipes(paths: readonly string[]): Promise<boolean> {
  try {
    await promisify(execFile)('mkfifo', ['-m', '600', ...paths])
    return true
  } catch {
    return false
  }
}

/** A moment, in milliseconds. */
const MOMENT = 2

/**
 * Begins a copy that reads its lines, the header first, from a named pipe. DuckDB reads it in one of Node's few threads,
 * and the process cannot end before that one is done: whatever happens, it is not left waiting at the pipe.
 */
export function openParquetFeed(pipe: string, file: Omit<ParquetPipe, 'staged' | 'signal'>): ParquetFeed {
  const stop = new AbortController()
  let writer: Socket | undefined
  let hasEnded = false
  const copy = copyFromPipe({ ...file, staged: pipe, signal: stop.signal }).catch(() => undefined)
  const letGo = () => {
    stop.abort()
    freeReader(pipe)
    writer?.destroy()
  }
  process.once('exit', letGo)
  void copy.then(() => {
    hasEnded = true
    process.off('exit', letGo)
  })
  // A pipe without a reader cannot be opened without waiting, and whoever waits takes another thread.
  const open = async () => {
    while (!hasEnded && !stop.signal.aborted) {
      writer = openIfRead(pipe)
      if (writer !== undefined) return
      await setTimeout(MOMENT)
    }
  }
  const opening = open()
  return {
    write: async (lines) => {
      await opening
      await new Promise<void>((resolve, reject) => {
        if (writer === undefined || stop.signal.aborted) return reject(new Error('the copy has ended'))
        writer.write(lines, (fault) => (fault ? reject(fault) : resolve()))
      })
    },
    finish: async () => {
      await opening
      writer?.destroy()
      return copy
    },
    abandon: async () => {
      while (!hasEnded) {
        letGo()
        await Promise.race([copy, setTimeout(MOMENT)])
      }
      rmSync(pipe, { force: true })
    },
  }
}

/** The end of the pipe that is written to; undefined where nobody reads at the other yet, or it cannot be opened now. */
function openIfRead(pipe: string): Socket | undefined {
  try {
    const fd = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
    return new Socket({ fd, readable: false, writable: true }).on('error', () => {})
  } catch {
    return undefined
  }
}

/** Whoever waits for the pipe to open waits no more; whoever opens it later finds none. */
function freeReader(pipe: string): void {
  try {
    const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
    rmSync(pipe, { force: true })
    closeSync(fd)
  } catch {
    // It is gone, or tried again.
  }
}
