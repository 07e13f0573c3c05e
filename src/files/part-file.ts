import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { finished, pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { openHashStream } from '../core/platform/hash-stream.ts'

/** A file that is being written; `T` is what is told of it in the end. */
export type OpenedFile<T> = {
  /** Resolves when the bytes are taken: what held them may be used again. */
  write(chunk: Buffer | string): Promise<void>
  finish(): Promise<T>
  abandon(): Promise<void>
}

/** A file that is hashed as it is written. */
export type HashedFile = OpenedFile<{ bytes: number; sha256: string }>

export function openHashedFile(path: string, { gzip }: { gzip: boolean }): HashedFile {
  if (gzip) return openPacked(path)
  const hash = createHash('sha256')
  const file = openPlainFile(path, (written) => hash.update(written))
  return { ...file, finish: async () => ({ ...(await file.finish()), sha256: hash.digest('hex') }) }
}

/** `onBytes` is told what is written, while it is. */
export function openPlainFile(
  path: string,
  onBytes: (written: Buffer) => void = () => {},
): OpenedFile<{ bytes: number }> {
  let [file, bytes]: [FileHandle | undefined, number] = [undefined, 0]
  return {
    write: async (chunk) => {
      file ??= await open(path, 'wx')
      const written = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      const writing = file.writeFile(written)
      onBytes(written)
      await writing
      bytes += written.length
    },
    finish: async () => {
      file ??= await open(path, 'wx')
      await file.close()
      return { bytes }
    },
    abandon: async () => {
      await file?.close().catch(() => undefined)
    },
  }
}

function openPacked(path: string): HashedFile {
  const packer = createGzip({ level: 6 })
  const file = createWriteStream(path, { flags: 'wx' })
  const { stream, sha256 } = openHashStream()
  const done = pipeline(packer, stream, file)
  let fault: unknown
  done.catch((cause: unknown) => {
    fault = cause
  })
  return {
    write: async (chunk) => {
      if (fault !== undefined) throw fault
      const taken = new Promise<void>((resolve) => packer.write(chunk, () => resolve()))
      await Promise.race([taken, done])
    },
    finish: async () => {
      packer.end()
      await done
      return { bytes: (await stat(path)).size, sha256: sha256() }
    },
    abandon: async () => {
      packer.destroy()
      file.destroy()
      await finished(file).catch(() => undefined)
    },
  }
}
