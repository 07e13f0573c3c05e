import { readFileSync, writeFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { parseHeader } from '../../src/checkpoint/record-header.ts'

/**
 * Overwrites pages in a checkpoint log with bytes that are not JSON, with valid checksums.
 *
 * @param predicate Selects the pages by number, starting at 0; pages without items are not counted
 * @returns the number of corrupted pages
 */
export function corruptPages(log: string, predicate: (page: number) => boolean): number {
  const bytes = readFileSync(log)
  const records: Buffer[] = []
  let [pages, corrupted] = [0, 0]
  for (let at = 0; at < bytes.length; ) {
    const head = parseHeader(bytes.subarray(at))
    if (head === undefined) break
    const end = at + head.length + head.bytes + 1
    const body = bytes.subarray(at + head.length, end - 1)
    if (head.fields.kind === 'page' && Number(head.fields.items) > 0 && predicate(pages++)) {
      body.fill('x')
      corrupted += 1
    }
    const json = JSON.stringify({ ...head.fields, crc: crc32(body) })
    const line = `WLF2 ${crc32(json).toString(16).padStart(8, '0')} ${json}\n`
    records.push(Buffer.from(line), body, Buffer.from('\n'))
    at = end
  }
  writeFileSync(log, Buffer.concat(records))
  return corrupted
}
