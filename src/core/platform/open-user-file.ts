import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pipeline, Readable, Transform, type TransformCallback } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { ExportError } from '../model/errors.ts'
import {
  asUtf8,
  detectEncoding,
  INVALID_UTF8,
  INVALID_UTF16,
  MISSING_BOM,
  requireUtf8,
  TEXT_EXPECTED,
} from './text-encoding.ts'
import { inputError } from './user-file.ts'

/** Maximum size of a user's file that arrives through a pipe. */
const MAX_PIPED_BYTES = 64 * 1024 * 1024

/** The contents of pipes, which can be read only once, by path and identity of the pipe. */
const pipes = new Map<string, Promise<Buffer>>()

/**
 * Opens a user's text file for reading as UTF-8; UTF-16 with a byte order mark is converted. Besides regular files, an open stream of this process is accepted, such as
 * `/dev/stdin` or the `/dev/fd/63` of a process substitution, also several times; reading more than 64 MiB from it fails. Other pipes and
 * devices are refused, because reading them may never end. `fix` says what to name instead.
 *
 * @throws USAGE if the file does not exist, is a folder, or is a pipe or device; while it is read, with the line, if it has
 * another encoding
 */
export async function openUserFile(file: string, fix: string): Promise<Readable> {
  const entry = await stat(file).catch((cause: unknown) => {
    throw inputError(file, cause, fix)
  })
  if (entry.isFile()) return textOf(file, createReadStream(file))
  if (entry.isDirectory()) throw inputError(file, Object.assign(new Error(), { code: 'EISDIR' }), fix)
  if (!OPEN_STREAM.test(resolve(file)))
    throw new ExportError('USAGE', `cannot read ${file}: it is a pipe or a device`, { fix })
  const key = `${resolve(file)} ${entry.dev} ${entry.ino}`
  const content = pipes.get(key) ?? readPipe(file)
  pipes.set(key, content)
  return textOf(file, Readable.from(chunksOf(content)))
}

function readPipe(file: string): Promise<Buffer> {
  // `pipeline` passes errors on and closes the file with the limit.
  const content = buffer(pipeline(createReadStream(file), limitBytes(file), () => {}))
  // The reader of the stream handles errors, possibly later than they occur.
  content.catch(() => {})
  return content
}

async function* chunksOf(content: Promise<Buffer>): AsyncGenerator<Buffer> {
  const bytes = await content
  if (bytes.length > 0) yield bytes
}

const textOf = (file: string, source: Readable): Readable =>
  Readable.from(readText(file, source), { objectMode: false })

async function* readText(file: string, source: Readable): AsyncGenerator<Buffer, void, void> {
  const chunks: AsyncIterator<Buffer, void> = source[Symbol.asyncIterator]()
  const first = await chunks.next()
  if (first.done) return
  const encoding = detectEncoding(first.value)
  if (encoding === 'unmarked') throw encodingError(file, 1, MISSING_BOM)
  const all = async function* () {
    yield first.value
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  try {
    yield* requireUtf8(asUtf8(all(), encoding), (line) => encodingError(file, line, INVALID_UTF8))
  } catch (cause) {
    const isInvalid = (cause as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
    throw isInvalid ? encodingError(file, 1, INVALID_UTF16) : cause
  } finally {
    source.destroy()
  }
}

function encodingError(file: string, line: number, found: string): ExportError {
  return new ExportError('USAGE', `${file}:${line}: found ${found}, expected ${TEXT_EXPECTED}`, {
    fix: 'Save the file as UTF-8, then run the same command again.',
  })
}

const OPEN_STREAM = /^\/(dev\/(stdin|fd\/\d+)|proc\/(self|\d+)\/fd\/\d+)$/

function limitBytes(file: string): Transform {
  let bytes = 0
  return new Transform({
    transform: (chunk: Buffer, _encoding, callback: TransformCallback) => {
      bytes += chunk.length
      if (bytes <= MAX_PIPED_BYTES) return callback(null, chunk)
      const message = `cannot read ${file}: it is longer than ${MAX_PIPED_BYTES} bytes, the maximum for a pipe`
      callback(new ExportError('USAGE', message, { fix: 'Write the data to a file and name that file.' }))
    },
  })
}
