import { createHash } from 'node:crypto'
import { Transform } from 'node:stream'

/**
 * A pass-through stream that hashes its bytes; `sha256` returns the lower-case hex digest once all bytes have
 * passed.
 */
export function openHashStream(): { stream: Transform; sha256(): string } {
  const hash = createHash('sha256')
  const stream = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  return { stream, sha256: () => hash.digest('hex') }
}
