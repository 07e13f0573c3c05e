import { closeSync, openSync, readSync } from 'node:fs'
import { diskError } from '../core/platform/disk.ts'

/** Reads byte ranges of files synchronously. Files stay open until `close`. */
export type FileReader = {
  /**
   * Fills the buffer from `offset` on and returns it. Throws OUTPUT_FAILED if the file ends before the buffer
   * is full.
   */
  read(path: string, offset: number, buffer: Buffer): Buffer
  close(): void
}

export function openFileReader(): FileReader {
  const files = new Map<string, number>()
  return {
    read: (path, offset, buffer) => {
      const file = files.get(path) ?? openSync(path, 'r')
      files.set(path, file)
      if (readSync(file, buffer, 0, buffer.length, offset) < buffer.length)
        throw diskError(`cannot read ${path}`, new Error('unexpected end of file'))
      return buffer
    },
    close: () => {
      for (const file of files.values()) closeSync(file)
      files.clear()
    },
  }
}
