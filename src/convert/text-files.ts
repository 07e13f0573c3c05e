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

const FLUSH_CHARS = 1 << 18

export function openTextFiles(): TextFiles {
  const waiting = new Map<string, string>()
  const partOf = (path: string) => `${path}.part`
  const guarded = async (path: string, work: () => Promise<void>) => {
    await work().catch((cause: unknown) => {
      throw diskError(`cannot write ${path}`, cause)
    })
  }
  const flush = async (path: string) => {
    const text = waiting.get(path) ?? ''
    waiting.set(path, '')
    if (text !== '') await guarded(path, () => appendFile(partOf(path), text))
  }
  return {
    add: async (path, text, head = '') => {
      if (!waiting.has(path)) await guarded(path, () => writeFile(partOf(path), head))
      const all = (waiting.get(path) ?? '') + text
      waiting.set(path, all)
      if (all.length > FLUSH_CHARS) await flush(path)
    },
    finish: async () => {
      const paths = [...waiting.keys()]
      for (const path of paths) await flush(path)
      for (const path of paths) await guarded(path, () => rename(partOf(path), path))
      return paths
    },
    giveUp: async () => {
      for (const path of waiting.keys()) await rm(partOf(path), { force: true })
    },
  }
}
