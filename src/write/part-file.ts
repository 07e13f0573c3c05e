import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { Transform } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

/** A file that is hashed as it is written. */
export type HashedFile = {
  /** Resolves when the bytes are taken: what held them may be used again. */
  write(chunk: Buffer | string): Promise<void>
  finish(): Promise<{ bytes: number; sha256: string }>
  abandon(): Promise<void>
}

export function openHashedFile(path: string, { gzip }: { gzip: boolean }): HashedFile {
  return gzip ? openPacked(path) : openPlain(path)
}

function openPlain(path: string): HashedFile {
  const hash = createHash('sha256')
  let [file, bytes]: [FileHandle | undefined, number] = [undefined, 0]
  return {
    write: async (chunk) => {
      file ??= await open(path, 'w')
      const written = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      hash.update(written)
      await file.writeFile(written)
      bytes += written.length
    },
    finish: async () => {
      file ??= await open(path, 'w')
      await file.close()
      return { bytes, sha256: hash.digest('hex') }
    },
    abandon: async () => {
      await file?.close().catch(() => undefined)
    },
  }
}

function openPacked(path: string): HashedFile {
  const hash = createHash('sha256')
  const packer = createGzip({ level: 6 })
  const file = createWriteStream(path)
  const measured = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  const done = pipeline(packer, measured, file)
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
      return { bytes: (await stat(path)).size, sha256: hash.digest('hex') }
    },
    abandon: async () => {
      packer.destroy()
      file.destroy()
      await finished(file).catch(() => undefined)
    },
  }
}
