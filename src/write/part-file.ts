import { createHash, type Hash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Transform, type Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

/** A file that is hashed as it is written, gzip or plain, with back-pressure. */
export type HashedFile = {
  write(chunk: Buffer | string): Promise<void>
  finish(): Promise<{ bytes: number; sha256: string }>
  abandon(): Promise<void>
}

export function openHashedFile(path: string, { gzip }: { gzip: boolean }): HashedFile {
  const hash = createHash('sha256')
  const measured = measure(hash)
  const file = createWriteStream(path, { highWaterMark: 1 << 20 })
  const packer = gzip ? createGzip({ level: 6 }) : undefined
  const entry: Writable = packer ?? measured
  const done = packer === undefined ? pipeline(measured, file) : pipeline(packer, measured, file)
  let fault: unknown
  done.catch((cause: unknown) => {
    fault = cause
  })
  return {
    write: async (chunk) => {
      if (fault !== undefined) throw fault
      if (!entry.write(chunk)) await Promise.race([drained(entry), done])
    },
    finish: async () => {
      entry.end()
      await done
      return { bytes: (await stat(path)).size, sha256: hash.digest('hex') }
    },
    abandon: async () => {
      entry.destroy()
      file.destroy()
      await finished(file).catch(() => undefined)
    },
  }
}

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => stream.once('drain', resolve))
}

function measure(hash: Hash): Transform {
  return new Transform({
    highWaterMark: 1 << 18,
    transform: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk)
      done(null, chunk)
    },
  })
}
