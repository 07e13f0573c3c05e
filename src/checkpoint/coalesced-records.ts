import type { BlockRange } from '../core/model/model.ts'
import { diskError } from '../core/platform/disk.ts'
import { parseHeader } from './record-header.ts'
import type { WholeRecordLocation } from './record-log.ts'

/** A range of the log that contains one or more block pages. */
type CoalescedRecords = {
  location: WholeRecordLocation
  blocks: { min: number; max: number } | null
  items: number
  bad: number
}

/**
 * Adds a block page to the records. Block pages are many and small, so pages that are consecutive in the log
 * and close to each other in the chain are coalesced into one range of the log, including their headers. A
 * million of them then need far fewer than a million entries in memory.
 */
export function coalesce<T extends CoalescedRecords>(records: T[], block: T): void {
  const last = records.at(-1)
  const extended = last === undefined ? undefined : extend(last, block)
  if (extended !== undefined) records[records.length - 1] = extended
  else records.push({ ...block, location: locationFrom(block.location.start, block.location) })
}

/** Maximum size of coalesced records in bytes, because they are read into memory together. */
const COALESCED_BYTES = 256 * 1024
/**
 * Maximum distance of coalesced blocks. A merge holds all of them in memory until it reaches the last one.
 */
const COALESCED_BLOCKS = 1_000

/** Returns `last` extended by a block page; undefined if the two must not be coalesced. */
function extend<T extends CoalescedRecords>(last: T, block: T): T | undefined {
  if (last.blocks === null || block.blocks === null) return undefined
  const min = Math.min(last.blocks.min, block.blocks.min)
  const max = Math.max(last.blocks.max, block.blocks.max)
  const location = locationFrom(last.location.start, block.location)
  if (location.bytes > COALESCED_BYTES || max - min > COALESCED_BLOCKS) return undefined
  const counts = { items: last.items + block.items, bad: last.bad + block.bad }
  return { ...last, ...counts, location, blocks: { min, max } }
}

type PageHeaderFields = { covered: BlockRange; blocks: CoalescedRecords['blocks'] }

function blocksOfPage({ covered: { from, to }, blocks }: PageHeaderFields): BlockRange {
  return blocks === null
    ? { from, to }
    : { from: Math.min(from, blocks.min), to: Math.max(to, blocks.max + 1) }
}

function locationFrom(start: number, { offset, bytes }: WholeRecordLocation): WholeRecordLocation {
  return { start, offset: start, bytes: offset + bytes - start }
}

/**
 * Returns the blocks that pages cover or contain items of, according to their headers. A page can contain
 * items of a block that only the next page covers, if the page ends within the block.
 *
 * @param pages bytes of the log, beginning with a record header
 */
export function blocksOfPages(pages: Buffer): BlockRange[] {
  const blocks: BlockRange[] = []
  for (let offset = 0; offset < pages.length; ) {
    const header = parseHeader(pages.subarray(offset))
    if (header === undefined) break
    if (header.fields.kind === 'page') blocks.push(blocksOfPage(header.fields as PageHeaderFields))
    offset += header.length + header.bytes + 1
  }
  return blocks
}

/** Returns the bodies of coalesced records as one JSON list. Throws OUTPUT_FAILED if a record is damaged. */
export function joinBodies(records: Buffer): Buffer {
  const bodies: Buffer[] = []
  for (let offset = 0; offset < records.length; ) {
    const header = parseHeader(records.subarray(offset))
    if (header === undefined)
      throw diskError('cannot read the checkpoint', new Error('a page in it is damaged'))
    const from = offset + header.length
    if (header.fields.kind === 'page' && header.bytes > 0)
      bodies.push(COMMA, records.subarray(from, from + header.bytes))
    offset = from + header.bytes + 1
  }
  return Buffer.concat([OPEN, ...bodies.slice(1), CLOSE])
}

const [OPEN, COMMA, CLOSE] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')] as const
