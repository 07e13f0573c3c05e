import { hash } from 'node:crypto'
import { type ByteText, isAscii } from './byte-text.ts'

/** SHA-256 of bytes, as lower-case hex. */
export function sha256(bytes: ByteText): string {
  return hash('sha256', isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1'))
}
