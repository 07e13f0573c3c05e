import { type ItemKey, timesOf } from '../../core/item-key.ts'

/** What paging needs of a wallet listing. */
export type Listing = {
  /** Items, good and bad. */
  items: number
  /** The places of the good ones, in their order. */
  keys: Pick<ItemKey, 'block' | 'hash' | 'second' | 'lastMs'>[]
  next: string | undefined
}

/**
 * Reads a listing that is written as services do (interface sections 2.2 and 4.3: its members in their order, no blanks,
 * every item with its place), and holds all of it to the grammar of JSON, in a third of the time that parsing takes. Gives
 * undefined for any other text: it is to be parsed. What both read is the same.
 */
export function scanListing(text: string): Listing | undefined {
  if (text.length > MOST_LENGTH) return undefined
  const head = execAt(HEAD, text, 0)
  if (head === null) return undefined
  const keys: Listing['keys'] = []
  let at = HEAD.lastIndex
  while (text[at] !== ']') {
    const item = execAt(ITEM, text, keys.length === 0 ? at : at + 1)
    if (item === null || (keys.length > 0 && text[at] !== ',')) return undefined
    const [, block, seconds, ms, hash = ''] = item
    const times = timesOf({ seconds: Number(seconds), ms: ms === undefined ? null : Number(ms) })
    if (times === undefined) return undefined
    const { second, lastMs } = times
    keys.push({ block: Number(block), hash: hash.toLowerCase(), second, lastMs })
    at = ITEM.lastIndex
  }
  const tail = execAt(TAIL, text, at)
  if (tail === null || (head[1] !== undefined && tail[1] !== undefined)) return undefined
  const next: string | null = JSON.parse(head[1] ?? tail[1] ?? 'null')
  return { items: keys.length, keys, next: next || undefined }
}

/** An expression takes memory for each character that it may have to go back to. */
const MOST_LENGTH = 2_000_000

function execAt(expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at
  return expression.exec(text)
}

const PLAIN = String.raw`[^"\\\x00-\x1f]`
const STRING = String.raw`"${PLAIN}*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})${PLAIN}*)*"`
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?`
const SCALAR = `${STRING}|${NUMBER}|true|false|null`

/** A value that holds others so many levels deep, each of them tried in one way only: it takes time in line with its length. */
function nested(levels: number): string {
  if (levels === 0) return `(?:${SCALAR})`
  const value = nested(levels - 1)
  const object = String.raw`\{(?:${STRING}:${value}(?:,(?=")|(?=\})))*\}`
  const list = String.raw`\[(?:${value}(?:,(?!\])|(?=\])))*\]`
  return `(?:${SCALAR}|${object}|${list})`
}

/** Members whose names do not begin with one of these: of two of the same name, JSON means the last. */
const membersBut = (names: string, levels: number) => `(?:,"(?!${names})${PLAIN}*":${nested(levels)})*`

const ITEM = (() => {
  const others = membersBut('blockNumber|blockTimestamp|blockIndex|txHash', 2)
  // No larger than `keyOfItem` takes for certain.
  const whole = (digits: number) => `(?:0|[1-9]\\d{0,${digits - 1}})`
  const native = [
    String.raw`\{"blockNumber":"(\d{1,15})"${others}`,
    `,"blockTimestamp":(${whole(11)})(?:,"blockTimestampMilliseconds":(${whole(14)}))?${others}`,
    `,"blockIndex":${whole(9)}${others}`,
    String.raw`,"txHash":"(${PLAIN}+)"${others}\}`,
  ].join('')
  return new RegExp(String.raw`\{"nativeTransaction":${native}${membersBut('nativeTransaction', 4)}\}`, 'y')
})()
const HEAD = new RegExp(String.raw`\{(?:"nextPageToken":(${STRING}|null),)?"transactions":\[`, 'y')
/** Of all that `\s` stands for, JSON has these four. */
const BLANKS = String.raw`[ \t\n\r]*`
const TAIL = new RegExp(String.raw`\](?:,"nextPageToken":(${STRING}|null))?\}${BLANKS}$`, 'y')
