import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { finished, pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { diskError } from './disk.ts'
import { openHashStream } from './hash-stream.ts'

/** Writes a file. `T` is the result of `finish`. */
export type FileWriter<T> = {
  /** Resolves when the bytes have been consumed, so that the caller may reuse the buffer. */
  write(chunk: Buffer | string): Promise<void>
  finish(): Promise<T>
  abort(): Promise<void>
}

/** Writes a file and computes its SHA-256 at the same time. */
export type HashedFileWriter = FileWriter<{ bytes: number; sha256: string }>

export function openHashedFile(path: string, { gzip }: { gzip: boolean }): HashedFileWriter {
  if (gzip) return openGzipFile(path)
  const hash = createHash('sha256')
  const file = openPlainFile(path, (written) => hash.update(written))
  return { ...file, finish: async () => ({ ...(await file.finish()), sha256: hash.digest('hex') }) }
}

/** `onBytes` receives the written bytes while the write is in progress. */
export function openPlainFile(
  path: string,
  onBytes: (written: Buffer) => void = () => {},
): FileWriter<{ bytes: number }> {
  let [file, bytes]: [FileHandle | undefined, number] = [undefined, 0]
  return {
    write: async (chunk) => {
      file ??= await open(path, 'wx')
      const written = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      const pendingWrite = file.writeFile(written)
      onBytes(written)
      await pendingWrite
      bytes += written.length
    },
    finish: async () => {
      file ??= await open(path, 'wx')
      await file.close()
      return { bytes }
    },
    abort: async () => {
      await file?.close().catch(() => undefined)
    },
  }
}

function openGzipFile(path: string): HashedFileWriter {
  const gzip = createGzip({ level: 6 })
  const file = createWriteStream(path, { flags: 'wx' })
  const { stream, sha256 } = openHashStream()
  const done = pipeline(gzip, stream, file)
  let failure: unknown
  done.catch((cause: unknown) => {
    failure = cause
  })
  return {
    write: async (chunk) => {
      if (failure !== undefined) throw failure
      const written = new Promise<void>((resolve) => gzip.write(chunk, () => resolve()))
      await Promise.race([written, done])
    },
    finish: async () => {
      gzip.end()
      await done
      return { bytes: (await stat(path)).size, sha256: sha256() }
    },
    abort: async () => {
      gzip.destroy()
      file.destroy()
      await finished(file).catch(() => undefined)
    },
  }
}

/** Writes a header and lines to a file, and finishes it. Throws OUTPUT_FAILED. */
export async function writeLines<T>(
  file: FileWriter<T>,
  path: string,
  content: { header: string; lines: Iterable<Buffer>; signal?: AbortSignal | undefined },
): Promise<T> {
  try {
    await file.write(`${content.header}\n`)
    for (const block of content.lines) {
      content.signal?.throwIfAborted()
      await file.write(block)
    }
    return await file.finish()
  } catch (error) {
    await file.abort()
    throw diskError(`cannot write ${path}`, error)
  }
}
