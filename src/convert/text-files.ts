import { appendFile, rename, rm, writeFile } from 'node:fs/promises'
import { diskError } from '../core/disk.ts'

/** Files that are written piece by piece and appear all at once, in the end. */
export type TextFiles = {
  /** Adds to a file; what a file begins with is `head`. */
  add(path: string, text: string, head?: string): Promise<void>
  /** Gives the files their names; resolves with them. Throws OUTPUT_FAILED. */
  finish(): Promise<string[]>
  /** Removes what was written. */
  giveUp(): Promise<void>
}

/** Bytes that wait for the disk, of all files together: fewer make more calls, more take more memory. */
const MOST_WAITING = 1 << 20

export function openTextFiles(): TextFiles {
  const waiting = new Map<string, Uint8Array[]>()
  let bytes = 0
  const partOf = (path: string) => `${path}.part`
  const guarded = async (path: string, work: () => Promise<void>) => {
    await work().catch((cause: unknown) => {
      throw diskError(`cannot write ${path}`, cause)
    })
  }
  const flush = async () => {
    bytes = 0
    for (const [path, pieces] of waiting) {
      if (pieces.length === 0) continue
      waiting.set(path, [])
      await guarded(path, () => appendFile(partOf(path), Buffer.concat(pieces)))
    }
  }
  return {
    add: async (path, text, head = '') => {
      if (!waiting.has(path)) {
        await guarded(path, () => writeFile(partOf(path), head))
        waiting.set(path, [])
      }
      const piece = Buffer.from(text)
      waiting.get(path)?.push(piece)
      bytes += piece.length
      if (bytes > MOST_WAITING) await flush()
    },
    finish: async () => {
      const paths = [...waiting.keys()]
      await flush()
      for (const path of paths) await guarded(path, () => rename(partOf(path), path))
      return paths
    },
    giveUp: async () => {
      for (const path of waiting.keys()) await rm(partOf(path), { force: true })
    },
  }
}
