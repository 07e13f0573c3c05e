import type { BlockRange } from '../core/model/model.ts'
import { diskError } from '../core/platform/disk.ts'
import { parseHead, type WholePlace } from './record-log.ts'

/** What is in a stretch of the log. */
type Stretch = {
  place: WholePlace
  blocks: { min: number; max: number } | null
  items: number
  bad: number
}

/**
 * Adds a block to the frames of a spool. Blocks are many and small: those that follow each other in the log and lie
 * near each other in the chain are kept as one stretch of it, heads included, so that a million of them do not take a
 * million places in memory.
 */
export function addToStretch<T extends Stretch>(frames: T[], block: T): void {
  const last = frames.at(-1)
  const longer = last === undefined ? undefined : lengthen(last, block)
  if (longer !== undefined) frames[frames.length - 1] = longer
  else frames.push({ ...block, place: placeFrom(block.place.start, block.place) })
}

/** So long a stretch is read at once, in bytes. */
const STRETCH_BYTES = 256 * 1024
/** Blocks further apart are not kept together: a merge would hold the one until it reaches the other. */
const STRETCH_BLOCKS = 1_000

/** The stretch with a block more; undefined where the two do not belong together. */
function lengthen<T extends Stretch>(last: T, block: T): T | undefined {
  if (last.blocks === null || block.blocks === null) return undefined
  const min = Math.min(last.blocks.min, block.blocks.min)
  const max = Math.max(last.blocks.max, block.blocks.max)
  const place = placeFrom(last.place.start, block.place)
  if (place.bytes > STRETCH_BYTES || max - min > STRETCH_BLOCKS) return undefined
  const counts = { items: last.items + block.items, bad: last.bad + block.bad }
  return { ...last, ...counts, place, blocks: { min, max } }
}

type ShownFields = { covered: BlockRange; blocks: Stretch['blocks'] }

function shownBy({ covered: { from, to }, blocks }: ShownFields): BlockRange {
  return blocks === null
    ? { from, to }
    : { from: Math.min(from, blocks.min), to: Math.max(to, blocks.max + 1) }
}

function placeFrom(start: number, { offset, bytes }: WholePlace): WholePlace {
  return { start, offset: start, bytes: offset + bytes - start }
}

/**
 * The blocks that pages cover or hold items of, by their heads; `pages`: bytes of the log that begin with a head. Of a block
 * in which a page ends it holds items, though the next page covers it.
 */
export function shownIn(pages: Buffer): BlockRange[] {
  const shown: BlockRange[] = []
  for (let at = 0; at < pages.length; ) {
    const head = parseHead(pages.subarray(at))
    if (head === undefined) break
    if (head.fields.kind === 'page') shown.push(shownBy(head.fields as ShownFields))
    at += head.length + head.bytes + 1
  }
  return shown
}

/** The pages in a stretch of the log, as one JSON list. Throws OUTPUT_FAILED where a frame is damaged. */
export function bodiesIn(stretch: Buffer): Buffer {
  const bodies: Buffer[] = []
  for (let at = 0; at < stretch.length; ) {
    const head = parseHead(stretch.subarray(at))
    if (head === undefined)
      throw diskError('cannot read the checkpoint', new Error('a page in it is damaged'))
    const from = at + head.length
    if (head.fields.kind === 'page' && head.bytes > 0)
      bodies.push(COMMA, stretch.subarray(from, from + head.bytes))
    at = from + head.bytes + 1
  }
  return Buffer.concat([OPEN, ...bodies.slice(1), CLOSE])
}

const [OPEN, COMMA, CLOSE] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')] as const
