import { ExportError } from '../../core/model/errors.ts'
import type { BlockRange } from '../../core/model/model.ts'
import { toText } from '../../core/platform/byte-text.ts'
import { jsonText } from '../../core/platform/json-text.ts'
import { checkPage, parseBody } from '../check-page.ts'
import type { Fields } from '../fields.ts'
import type { ComposedRecords, Page, PageLimits, ParsedPage, RecordIndex } from '../source.ts'
import { type Item, keyOf, LISTING_NAMES, type ListingName } from './item.ts'
import { keptRecords, recordAt, releaseRecords } from './record-index.ts'
import { WINDOW_SIZES } from './window-size.ts'

/** Every record of a full window in every listing may belong to another transaction. */
const MAX_ITEMS = LISTING_NAMES.length * WINDOW_SIZES[0]

/** The list of items in a body. */
export const ITEMS = 'items'

/**
 * Validates a composed body, and parses it unless this thread has parsed its answers. Single invalid items are accepted.
 * Throws PAGE_MALFORMED.
 */
export function parsePage(body: Buffer, limits: PageLimits): ParsedPage {
  const items = takeKeptItems(limits) ?? itemsIn(parseBody(body))
  if (!Array.isArray(items)) throw new ExportError('PAGE_MALFORMED', 'the page has no list of items')
  if (items.length > MAX_ITEMS)
    throw new ExportError(
      'PAGE_MALFORMED',
      `the page has ${items.length} items, more than the limit of ${MAX_ITEMS}`,
    )
  const keys = items.map((item) => keyOf(item))
  return { page: checkPage({ body, keys, next: undefined }, limits), items, keys }
}

/** Like `parsePage`, without the items. */
export function readPage(body: Buffer, limits: PageLimits): Page {
  return parsePage(body, limits).page
}

/** Returns the items of a parsed body. */
export function itemsIn(parsed: unknown): unknown {
  return ((parsed ?? {}) as { [ITEMS]?: unknown })[ITEMS]
}

/** A record of an answer. */
export type Located = { answer: RecordIndex; at: number }

type ByListing<T> = Readonly<Record<ListingName, readonly T[]>>

/** The records of one transaction. */
type Transaction<R extends Located> = {
  /** The first of them, and one that states its block, if there is one. */
  first: R
  placed: R
  normal: R | null
} & Record<Exclude<ListingName, 'normal'>, R[]>

/** Groups records by transaction. A record without a hash stands alone; those of the genesis block are left out. */
function groupRecords<R extends Located>(records: ByListing<R>): Transaction<R>[] {
  const groups = new Map<string, Transaction<R>>()
  for (const listing of LISTING_NAMES) {
    const list = records[listing]
    for (let at = 0; at < list.length; at += 1) addToGroup(groups, listing, list[at] as R)
  }
  return [...groups.values()]
}

function addToGroup<R extends Located>(
  groups: Map<string, Transaction<R>>,
  listing: ListingName,
  record: R,
): void {
  const { answer, at } = record
  if (answer.genesis.size > 0 && answer.genesis.has(at)) return
  const hash = answer.hashes[at] || `#${groups.size}`
  let group = groups.get(hash)
  if (group === undefined) {
    group = { first: record, placed: record, normal: null, internal: [], erc20: [], erc721: [], erc1155: [] }
    groups.set(hash, group)
  }
  if (isUnplaced(group.placed)) group.placed = record
  if (listing !== 'normal') group[listing].push(record)
  else group.normal ??= record
}

const isUnplaced = ({ answer, at }: Located) => Number.isNaN(answer.blocks[at])

/** `fields`: the record, if this thread has parsed it. Its bytes may have been transferred to another thread. */
function hashOf({ answer, at }: Located, fields?: Fields): unknown {
  const hash = answer.hashes[at]
  if (hash !== '') return hash
  const record = fields ?? recordAt(answer, at)
  return record.hash ?? record.transactionHash
}

function blockOf(record: Located, fields?: Fields): unknown {
  const { answer, at } = record
  return isUnplaced(record) ? (fields ?? recordAt(answer, at)).blockNumber : String(answer.blocks[at])
}

/** The JSON of a page: the records of complete blocks as the service returned them, grouped by transaction. */
export function composeBody(records: ByListing<Located>, { from, to }: BlockRange): Buffer {
  const body = new BodyParts(`{"from":${from},"to":${to},"items":[`)
  const transactions = groupRecords(records)
  for (let at = 0; at < transactions.length; at += 1) {
    if (at > 0) body.addText(',')
    body.addTransaction(transactions[at] as Transaction<Located>)
  }
  body.addText(']}')
  return body.join()
}

/** Text between records, and records, whose bytes are copied once. */
class BodyParts {
  readonly #parts: (string | Located)[] = []
  #text: string
  #bytes = 0

  constructor(text: string) {
    this.#text = text
  }

  addText(text: string): void {
    this.#text += text
  }

  addTransaction({ first, placed, normal, internal, erc20, erc721, erc1155 }: Transaction<Located>): void {
    const key = jsonText({ hash: hashOf(first), blockNumber: blockOf(placed) })
    this.addText(`${key.slice(0, -1)}${key === '{}' ? '' : ','}"normal":`)
    if (normal === null) this.addText('null')
    else this.#addRecord(normal)
    this.#addList('internal', internal)
    this.#addList('erc20', erc20)
    this.#addList('erc721', erc721)
    this.#addList('erc1155', erc1155)
    this.addText('}')
  }

  #addRecord(record: Located): void {
    const { answer, at } = record
    this.#parts.push(this.#text, record)
    this.#bytes += this.#text.length + (answer.ends[at] ?? 0) - (answer.starts[at] ?? 0)
    this.#text = ''
  }

  #addList(name: string, records: readonly Located[]): void {
    this.addText(`,"${name}":[`)
    for (let at = 0; at < records.length; at += 1) {
      if (at > 0) this.addText(',')
      this.#addRecord(records[at] as Located)
    }
    this.addText(']')
  }

  join(): Buffer {
    const body = Buffer.allocUnsafe(this.#bytes + this.#text.length)
    let end = 0
    for (const part of this.#parts)
      end +=
        typeof part === 'string'
          ? body.write(part, end, 'latin1')
          : part.answer.body.copy(body, end, part.answer.starts[part.at], part.answer.ends[part.at])
    body.write(this.#text, end, 'latin1')
    return body
  }
}

/** Names the records of a page, so that the thread that has parsed them need not do so again. */
export function nameRecords(records: ByListing<Located>): NonNullable<PageLimits['records']> {
  return Object.fromEntries(LISTING_NAMES.map((name) => [name, nameLocated(records[name])]))
}

export const nameLocated = (list: readonly Located[]): ComposedRecords => ({
  answers: Float64Array.from(list, ({ answer }) => answer.id),
  positions: Uint32Array.from(list, ({ at }) => at),
})

/** The items of a page that is composed of answers which this thread has parsed and kept; undefined if it has not. */
function takeKeptItems({ records, droppedRecords }: PageLimits): readonly Item[] | undefined {
  if (records === undefined) return undefined
  const items = composedItems(records)
  for (const { answers } of Object.values(records)) releaseRecords(answers)
  if (droppedRecords !== undefined) releaseRecords(droppedRecords.answers)
  return items
}

function composedItems(records: NonNullable<PageLimits['records']>): readonly Item[] | undefined {
  const located: Partial<Record<ListingName, Parsed[]>> = {}
  for (const name of LISTING_NAMES) {
    const list = locateRecords(records[name])
    if (list === undefined) return undefined
    located[name] = list
  }
  return groupRecords(located as ByListing<Parsed>).map(
    ({ first, placed, normal, internal, erc20, erc721, erc1155 }): Item => ({
      hash: hashOf(first, first.fields),
      blockNumber: blockOf(placed, placed.fields),
      normal: normal?.fields ?? null,
      internal: internal.map(fieldsOf),
      erc20: erc20.map(fieldsOf),
      erc721: erc721.map(fieldsOf),
      erc1155: erc1155.map(fieldsOf),
    }),
  )
}

type Parsed = Located & { fields: Fields }

const fieldsOf = ({ fields }: Parsed) => fields

function locateRecords(records: ComposedRecords | undefined): Parsed[] | undefined {
  const located: Parsed[] = []
  if (records === undefined) return located
  const { answers, positions } = records
  for (let index = 0; index < answers.length; index += 1) {
    const answer = keptRecords(answers[index] as number)
    const at = positions[index] ?? 0
    const fields = answer?.records[at]
    if (answer === undefined || fields === undefined) return undefined
    located.push({ answer: answer.index, at, fields })
  }
  return located
}

/** The coins that a wallet holds since the genesis block; undefined if the records state none. */
export function genesisCoins(records: readonly Located[]): string | undefined {
  const values = records.flatMap(({ answer, at }) => {
    const coins = answer.genesis.get(at) ?? ''
    return /^\d{1,78}$/.test(coins) ? [BigInt(coins)] : []
  })
  return values.length === 0 ? undefined : String(values.reduce((sum, value) => sum + value))
}

/**
 * Finds a transaction that listings state in different blocks, or a block of which they state different hashes: the chain
 * was reorganized between the requests, or some listings do not show the reorganization yet. Records newer than
 * `cutoffMs`, which are not exported, do not count. Returns PAGE_MALFORMED, or undefined if there is none.
 */
export function findMoved(
  records: Readonly<Record<ListingName, readonly Located[]>>,
  cutoffMs: number,
): ExportError | undefined {
  const positions = new StatedPositions(cutoffMs)
  for (const name of LISTING_NAMES) {
    const list = records[name]
    for (let at = 0; at < list.length; at += 1) {
      const moved = positions.add(list[at] as Located)
      if (moved !== undefined) return movedError(moved)
    }
  }
  return undefined
}

/** The blocks of transactions, and the hashes of blocks, that records state. */
class StatedPositions {
  readonly #cutoffMs: number
  readonly #blocks = new Map<string, number>()
  readonly #hashes = new Map<number, string>()
  /** The block of the last record, which usually is that of the next one. */
  #block = Number.NaN
  #blockHash = ''

  constructor(cutoffMs: number) {
    this.#cutoffMs = cutoffMs
  }

  /** Returns what contradicts an earlier record. */
  add({ answer, at }: Located): string | undefined {
    const [hash = '', block = Number.NaN] = [answer.hashes[at], answer.blocks[at]]
    if (hash === '' || Number.isNaN(block) || (answer.seconds[at] ?? 0) * 1000 > this.#cutoffMs)
      return undefined
    const otherBlock = this.#blocks.get(hash)
    if (otherBlock === undefined) this.#blocks.set(hash, block)
    else if (otherBlock !== block) return `transaction ${toText(hash)} in blocks ${otherBlock} and ${block}`
    const blockHash = answer.blockHashes[at] ?? ''
    if (blockHash === '' || (block === this.#block && blockHash === this.#blockHash)) return undefined
    if ((this.#hashes.get(block) ?? blockHash) !== blockHash) return `two versions of block ${block}`
    this.#hashes.set(block, blockHash)
    this.#block = block
    this.#blockHash = blockHash
    return undefined
  }
}

function movedError(what: string): ExportError {
  return new ExportError('PAGE_MALFORMED', `the listings state ${what}`, {
    fix: 'The chain is being reorganized, or a listing lags behind. Run the same command again later: it resumes.',
  })
}
