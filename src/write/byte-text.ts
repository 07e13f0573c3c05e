/** Text as bytes, growing at its end. */
export type ByteText = { bytes: Buffer; end: number }

/** More than is ever kept of usual rows; what is not written on takes no memory. */
const FIRST_BYTES = 1 << 19
/** Room that is left after every append: for separators, which are written without asking. */
const MARGIN = 256

export function newByteText(): ByteText {
  return { bytes: Buffer.allocUnsafeSlow(FIRST_BYTES), end: 0 }
}

/** Appends text whose every character stands for itself; appends nothing and says false where one does not. */
export function appendPlain(to: ByteText, text: string, isPlain: Uint8Array): boolean {
  const { length } = text
  if (to.end + length + MARGIN > to.bytes.length) grow(to, length)
  const { bytes, end } = to
  for (let at = 0; at < length; at += 1) {
    const code = text.charCodeAt(at)
    if (code > 127 || isPlain[code] === 0) return false
    bytes[end + at] = code
  }
  to.end = end + length
  return true
}

/** Appends the digits of a whole number from 0 on that is exact. */
export function appendWhole(to: ByteText, whole: number): void {
  let length = 1
  for (let power = 10; power <= whole; power *= 10) length += 1
  if (to.end + length + MARGIN > to.bytes.length) grow(to, length)
  let rest = whole
  for (let at = to.end + length - 1; at >= to.end; at -= 1) {
    const tens = Math.floor(rest / 10)
    to.bytes[at] = ZERO + (rest - 10 * tens)
    rest = tens
  }
  to.end += length
}

const ZERO = 48

/** Appends any well-formed text as UTF-8. */
export function appendText(to: ByteText, text: string): void {
  const most = 3 * text.length
  if (to.end + most + MARGIN > to.bytes.length) grow(to, most)
  to.end += to.bytes.write(text, to.end)
}

/** Appends a stretch of bytes, which may lie in the text itself. */
export function appendBytes(to: ByteText, from: Uint8Array): void {
  if (to.end + from.length + MARGIN > to.bytes.length) grow(to, from.length)
  to.bytes.set(from, to.end)
  to.end += from.length
}

function grow(to: ByteText, more: number): void {
  const larger = Buffer.allocUnsafeSlow(2 * (to.end + more + MARGIN))
  larger.set(to.bytes.subarray(0, to.end))
  to.bytes = larger
}
