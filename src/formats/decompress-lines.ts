import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { ExportError } from '../core/model/errors.ts'
import { diskError } from '../core/platform/disk.ts'
import type { Column } from '../core/table/index.ts'
import { csvHeader } from './csv-lines.ts'

/** Copies the lines of a CSV file, decompressed and without the header. Throws VERIFY_FAILED if the header is wrong. */
export async function decompressLines(
  from: string,
  to: string,
  columns: readonly Column[],
): Promise<{ path: string; bytes: number }> {
  const decompress = from.endsWith('.gz') ? [createGunzip()] : []
  try {
    await pipeline([
      createReadStream(from, { highWaterMark: 1 << 18 }),
      ...decompress,
      withoutHeader(Buffer.from(`${csvHeader(columns)}\n`), from),
      createWriteStream(to),
    ])
    return { path: to, bytes: (await stat(to)).size }
  } catch (cause) {
    throw diskError(`cannot read ${from}`, cause)
  }
}

function withoutHeader(header: Buffer, path: string): Transform {
  let start: Buffer | undefined = Buffer.alloc(0)
  const differs = () => start !== undefined && !start.subarray(0, header.length).equals(header)
  const headerError = () => new ExportError('VERIFY_FAILED', `${path} begins with another header`)
  return new Transform({
    transform: (block: Buffer, _encoding, done) => {
      if (start === undefined) return done(null, block)
      start = Buffer.concat([start, block])
      if (start.length < header.length) return done()
      if (differs()) return done(headerError())
      const lines = start.subarray(header.length)
      start = undefined
      done(null, lines)
    },
    flush: (done) => done(start === undefined ? null : headerError()),
  })
}
