import { threadId } from 'node:worker_threads'
import { ExportError } from '../../core/model/errors.ts'
import { parseBytes, toLowerCase } from '../../core/platform/byte-text.ts'
import { jsonText } from '../../core/platform/json-text.ts'
import { type Fields, valueAt, wholeNumber } from '../fields.ts'
import type { Answer, ByteRange, RecordIndex } from '../source.ts'
import { splitPage } from '../split-list.ts'
import { isUnprocessed, readRecords, UnprocessedBlocksError } from './answer.ts'
import { hashOf } from './item.ts'

/**
 * Reads the answer of a listing: what decides paging, and where each record is. The parsed records stay in this thread
 * until a page is composed of them, so that no byte is parsed twice.
 */
export function readAnswer(body: Buffer): Answer {
  try {
    return keepRecords(indexRecords(readRecords(body), body))
  } catch (error) {
    if (!(error instanceof ExportError)) throw error
    const { code, message, fix, status, isPermanent } = error
    return {
      body,
      refusal: { code, message, fix, status, isPermanent, isUnprocessed: isUnprocessed(error) },
    }
  }
}

/** Returns the records of an answer, or throws what `readRecords` has thrown in another thread. */
export function requireRecords(answer: Answer): RecordIndex {
  if (!('refusal' in answer)) return recordIndex(answer)
  const { code, message, fix, status, isPermanent, isUnprocessed: isIncomplete } = answer.refusal
  throw new ExportError(code, message, {
    fix,
    isPermanent,
    ...(status !== undefined && { status }),
    ...(isIncomplete && { cause: new UnprocessedBlocksError() }),
  })
}

/**
 * Copies an index to a literal. V8 forgets the shape of objects that are spread or come from another thread, and then
 * discards the code that it has optimized for them.
 */
const recordIndex = ({
  id,
  body,
  starts,
  ends,
  blocks,
  seconds,
  hashes,
  blockHashes,
  genesis,
}: RecordIndex): RecordIndex => ({ id, body, starts, ends, blocks, seconds, hashes, blockHashes, genesis })

type IndexedRecords = { index: RecordIndex; records: readonly Fields[] }

function indexRecords(records: readonly Fields[], body: Buffer): IndexedRecords {
  const index = {
    blocks: new Float64Array(records.length),
    seconds: new Float64Array(records.length),
    hashes: [] as string[],
    blockHashes: [] as string[],
    genesis: new Map<number, string>(),
  }
  for (let at = 0; at < records.length; at += 1) addToIndex(index, at, records[at] as Fields)
  return { index: recordIndex({ id: newId(), ...index, ...locate(records, body) }), records }
}

type Index = Pick<RecordIndex, 'blocks' | 'seconds'> & {
  hashes: string[]
  blockHashes: string[]
  genesis: Map<number, string>
}

function addToIndex(
  { blocks, seconds, hashes, blockHashes, genesis }: Index,
  at: number,
  record: Fields,
): void {
  const [hash, blockHash] = [valueAt(record, 'hash'), valueAt(record, 'blockHash')]
  blocks[at] = wholeNumber(valueAt(record, 'blockNumber')) ?? Number.NaN
  seconds[at] = wholeNumber(valueAt(record, 'timeStamp')) ?? 0
  hashes.push(hashOf(record) ?? '')
  blockHashes.push(typeof blockHash === 'string' ? toLowerCase(blockHash) : '')
  if (typeof hash === 'string' && hash.startsWith('GENESIS'))
    genesis.set(at, String(valueAt(record, 'value')))
}

let ids = 0
/** An id that no other thread of the process assigns. */
function newId(): number {
  ids += 1
  return threadId * 2 ** 32 + ids
}

type Location = Pick<RecordIndex, 'starts' | 'ends'>

/** The bytes of each record. Records that cannot be located are written again. */
function locate(records: readonly Fields[], body: Buffer): Location & Pick<RecordIndex, 'body'> {
  const location = separators(body, records) ?? locationOf(splitPage(body, 'result') ?? [])
  if (location.starts.length === records.length) return { body, ...location }
  return locate(records, Buffer.from(`{"result":[${records.map(jsonText).join(',')}]}`, 'latin1'))
}

const locationOf = (ranges: readonly ByteRange[]): Location => ({
  starts: Uint32Array.from(ranges, ([start]) => start),
  ends: Uint32Array.from(ranges, ([, end]) => end),
})

const LIST = '"result":[{"'
const SEPARATOR = '"},{"'
/** What can precede the opening quote of a string, and the backslash of an escaped one. */
const BEFORE_OPENING = ':,[{\\ \t\r\n'

/**
 * Locates the records of a list without a look at each byte: by the bytes between two records, as explorers write them.
 * These can also be the content of a string, but not after the closing quote of another one. Undefined if they are not
 * found between all records.
 */
function separators(body: Buffer, records: readonly Fields[]): Location | undefined {
  const count = records.length
  // One character per byte, so positions in the text are those in the body.
  const text = body.toString('latin1')
  const start = text.indexOf(LIST)
  const end = text.lastIndexOf('}]')
  if (count === 0 || start < 0 || end < start) return undefined
  // In other objects and lists, the same bytes do not separate records.
  if (text.lastIndexOf('{', start) !== text.indexOf('{') || records.some(hasParts)) return undefined
  const [starts, ends] = [new Uint32Array(count), new Uint32Array(count)]
  let [record, from] = [0, start + LIST.length - 2]
  for (let at = text.indexOf(SEPARATOR, from); at >= 0; at = text.indexOf(SEPARATOR, at + 1)) {
    if (record === count - 1 || BEFORE_OPENING.includes(text[at - 1] as string)) return undefined
    starts[record] = from
    ends[record] = at + 2
    from = at + 3
    record += 1
  }
  starts[record] = from
  ends[record] = end + 1
  return record === count - 1 && isJson(text.slice(from, end + 1)) ? { starts, ends } : undefined
}

/** Whether a record contains objects or lists. */
function hasParts(record: Fields): boolean {
  for (const name in record) if (typeof record[name] === 'object' && record[name] !== null) return true
  return false
}

/** Whether the last record ends where the list does: the list may also end before. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/**
 * Bytes of answers whose parsed records are kept in a thread: five full windows of one wallet have about 35 MB. The records
 * take about four times as much memory.
 */
const KEPT_BYTES = 48 * 2 ** 20
/** By id, in the order of arrival, with the number of records of which no page has been made yet. */
const kept = new Map<number, KeptRecords>()
let keptBytes = 0

/** `bytes`: those of the body, whose memory another thread may have by now. */
type KeptRecords = { indexed: IndexedRecords; left: number; bytes: number }

function keepRecords(indexed: IndexedRecords): RecordIndex {
  const { index, records } = indexed
  if (records.length === 0) return index
  const bytes = index.body.length
  kept.set(index.id, { indexed, left: records.length, bytes })
  keptBytes += bytes
  for (const id of kept.keys()) {
    if (keptBytes <= KEPT_BYTES) break
    drop(id)
  }
  return index
}

function drop(id: number): void {
  keptBytes -= kept.get(id)?.bytes ?? 0
  kept.delete(id)
}

/** The kept records of an answer that this thread has parsed; undefined if there are none. */
export const keptRecords = (id: number): IndexedRecords | undefined => kept.get(id)?.indexed

/** Takes note, by the ids of their answers, of records that are no longer needed. An answer without others is dropped. */
export function releaseRecords(answers: Iterable<number>): void {
  for (const id of answers) {
    const answer = kept.get(id)
    if (answer === undefined) continue
    answer.left -= 1
    if (answer.left === 0) drop(id)
  }
}

/** Parses one record. */
export const recordAt = ({ body, starts, ends }: RecordIndex, at: number): Fields =>
  parseBytes(body.subarray(starts[at], ends[at])) as Fields
