import { readFileSync, writeFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { parseHead } from '../../src/checkpoint/record-log.ts'

/**
 * Has pages with items in a checkpoint hold bytes that are no JSON, their checksums right; `picks` is given the number of each
 * such page, from 0. Gives how many were spoilt.
 */
export function spoilPages(log: string, picks: (page: number) => boolean): number {
  const bytes = readFileSync(log)
  const frames: Buffer[] = []
  let [pages, spoilt] = [0, 0]
  for (let at = 0; at < bytes.length; ) {
    const head = parseHead(bytes.subarray(at))
    if (head === undefined) break
    const end = at + head.length + head.bytes + 1
    const body = bytes.subarray(at + head.length, end - 1)
    if (head.fields.kind === 'page' && Number(head.fields.items) > 0 && picks(pages++)) {
      body.fill('x')
      spoilt += 1
    }
    const json = JSON.stringify({ ...head.fields, crc: crc32(body) })
    const line = `WLF1 ${crc32(json).toString(16).padStart(8, '0')} ${json}\n`
    frames.push(Buffer.from(line), body, Buffer.from('\n'))
    at = end
  }
  writeFileSync(log, Buffer.concat(frames))
  return spoilt
}
