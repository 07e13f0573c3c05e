import { appendFile, rename, rm, writeFile } from 'node:fs/promises'
import { diskError } from '../core/disk.ts'

/** Files that are written piece by piece and appear all at once, in the end. */
export type TextFiles = {
  /** Adds to a file, which begins with `head`. */
  add(path: string, text: string, head?: string): void
  /** Writes what was added, once it is enough. Throws OUTPUT_FAILED. */
  flush(): Promise<void>
  /** Gives the files their names; resolves with them. Throws OUTPUT_FAILED. */
  finish(): Promise<string[]>
  /** Removes what was written. */
  giveUp(): Promise<void>
}

/** Bytes that wait for the disk, of all files together: fewer make more calls, more take more memory. */
const MOST_WAITING = 1 << 20

/** Bytes of a file that wait in a buffer: text that was kept as such would cost more to collect. */
type Piece = { buffer: Buffer; start: number; end: number }
type TextFile = { waiting: Piece[]; isBegun: boolean }

export function openTextFiles(): TextFiles {
  const files = new Map<string, TextFile>()
  let buffer = Buffer.allocUnsafe(MOST_WAITING)
  let [used, waiting] = [0, 0]
  const partOf = (path: string) => `${path}.part`
  const guarded = async (path: string, work: () => Promise<void>) => {
    await work().catch((cause: unknown) => {
      throw diskError(`cannot write ${path}`, cause)
    })
  }
  const put = ({ waiting: pieces }: TextFile, text: string) => {
    const most = text.length * 3
    if (used + most > buffer.length) {
      buffer = Buffer.allocUnsafe(Math.max(MOST_WAITING, most))
      used = 0
    }
    const end = used + buffer.write(text, used)
    const last = pieces.at(-1)
    if (last?.buffer === buffer && last.end === used) last.end = end
    else pieces.push({ buffer, start: used, end })
    waiting += end - used
    used = end
  }
  const writeAll = async () => {
    for (const [path, file] of files) {
      if (file.waiting.length === 0) continue
      const bytes = Buffer.concat(file.waiting.map((piece) => piece.buffer.subarray(piece.start, piece.end)))
      const write = file.isBegun ? appendFile : writeFile
      Object.assign(file, { waiting: [], isBegun: true })
      await guarded(path, () => write(partOf(path), bytes))
    }
    ;[used, waiting] = [0, 0]
  }
  return {
    add: (path, text, head = '') => {
      let file = files.get(path)
      if (file === undefined) {
        file = { waiting: [], isBegun: false }
        files.set(path, file)
        put(file, head)
      }
      put(file, text)
    },
    flush: async () => {
      if (waiting > MOST_WAITING / 2) await writeAll()
    },
    finish: async () => {
      await writeAll()
      for (const path of files.keys()) await guarded(path, () => rename(partOf(path), path))
      return [...files.keys()]
    },
    giveUp: async () => {
      for (const path of files.keys()) await rm(partOf(path), { force: true })
    },
  }
}
