import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream'
import { ExportError } from '../model/errors.ts'
import { inputError } from './user-file.ts'

/** Maximum size of a user's file that arrives through a pipe. */
const MAX_PIPED_BYTES = 64 * 1024 * 1024

/**
 * Opens a user's file for reading. Besides regular files, an open stream of this process is accepted, such as
 * `/dev/stdin` or the `/dev/fd/63` of a process substitution; reading more than 64 MiB from it fails. Other pipes and
 * devices are refused, because reading them may never end. `fix` says what to name instead.
 *
 * @throws USAGE if the file does not exist, is a folder, or is a pipe or device
 */
export async function openUserFile(file: string, fix: string): Promise<Readable> {
  const entry = await stat(file).catch((cause: unknown) => {
    throw inputError(file, cause, fix)
  })
  if (entry.isFile()) return createReadStream(file)
  if (entry.isDirectory()) throw inputError(file, Object.assign(new Error(), { code: 'EISDIR' }), fix)
  if (!OPEN_STREAM.test(resolve(file)))
    throw new ExportError('USAGE', `cannot read ${file}: it is a pipe or a device`, { fix })
  // `pipeline` passes errors on and closes the file with the limit; the reader of the stream handles them.
  return pipeline(createReadStream(file), limitBytes(file), () => {})
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
