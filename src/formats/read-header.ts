import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'

/** Maximum length of a header, in bytes. */
const MAX_HEADER_BYTES = 16_384

/** Reads the first line of a file without its `\n`; undefined if there is no complete line or it cannot be read. */
export async function readHeader(path: string): Promise<string | undefined> {
  const file = createReadStream(path)
  const source = path.endsWith('.gz') ? file.pipe(createGunzip()) : file
  file.on('error', (thrown) => source.destroy(thrown))
  let head = Buffer.alloc(0)
  try {
    for await (const chunk of source) {
      head = Buffer.concat([head, chunk as Buffer])
      const end = head.indexOf('\n')
      if (end >= 0) return head.subarray(0, end).toString('utf8')
      if (head.length > MAX_HEADER_BYTES) return undefined
    }
    return undefined
  } catch {
    return undefined
  } finally {
    file.destroy()
  }
}
