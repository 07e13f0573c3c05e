import { closeSync, openSync, readSync } from 'node:fs'
import { diskError } from '../core/platform/disk.ts'

/** Reads stretches of files, by blocking calls; files stay open until `close`. */
export type FileReader = {
  /** Fills the room with the bytes from `offset` on, and gives it back. Throws OUTPUT_FAILED where there are fewer. */
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
        throw diskError(`cannot read ${path}`, new Error('it ends too early'))
      return buffer
    },
    close: () => {
      for (const file of files.values()) closeSync(file)
      files.clear()
    },
  }
}
