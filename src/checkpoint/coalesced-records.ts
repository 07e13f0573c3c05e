import type { BlockRange } from '../core/model/model.ts'
import { diskError } from '../core/platform/disk.ts'
import { parseHeader, type WholeRecordLocation } from './record-log.ts'

/** What is in a stretch of the log. */
type CoalescedRecords = {
  location: WholeRecordLocation
  blocks: { min: number; max: number } | null
  items: number
  bad: number
}

/**
 * Adds a block to the frames of a spool. Blocks are many and small: those that follow each other in the log and lie
 * near each other in the chain are kept as one stretch of it, heads included, so that a million of them do not take a
 * million places in memory.
 */
export function coalesce<T extends CoalescedRecords>(records: T[], block: T): void {
  const last = records.at(-1)
  const extended = last === undefined ? undefined : extend(last, block)
  if (extended !== undefined) records[records.length - 1] = extended
  else records.push({ ...block, location: locationFrom(block.location.start, block.location) })
}

/** So long a stretch is read at once, in bytes. */
const COALESCED_BYTES = 256 * 1024
/** Blocks further apart are not kept together: a merge would hold the one until it reaches the other. */
const COALESCED_BLOCKS = 1_000

/** The stretch with a block more; undefined where the two do not belong together. */
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

function blocksShownBy({ covered: { from, to }, blocks }: PageHeaderFields): BlockRange {
  return blocks === null
    ? { from, to }
    : { from: Math.min(from, blocks.min), to: Math.max(to, blocks.max + 1) }
}

function locationFrom(start: number, { offset, bytes }: WholeRecordLocation): WholeRecordLocation {
  return { start, offset: start, bytes: offset + bytes - start }
}

/**
 * The blocks that pages cover or hold items of, by their heads; `pages`: bytes of the log that begin with a head. Of a block
 * in which a page ends it holds items, though the next page covers it.
 */
export function blocksShownIn(pages: Buffer): BlockRange[] {
  const shown: BlockRange[] = []
  for (let offset = 0; offset < pages.length; ) {
    const header = parseHeader(pages.subarray(offset))
    if (header === undefined) break
    if (header.fields.kind === 'page') shown.push(blocksShownBy(header.fields as PageHeaderFields))
    offset += header.length + header.bytes + 1
  }
  return shown
}

/** The pages in a stretch of the log, as one JSON list. Throws OUTPUT_FAILED where a frame is damaged. */
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
