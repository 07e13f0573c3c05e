import { HttpError } from './http-error.ts'
import type { PageQuery } from './pages.ts'
import type { Quirk } from './quirks.ts'

export type WalletQuery = Required<PageQuery> & {
  /** Inclusive. */
  readonly startBlock: number
  /** Exclusive; null for up to the head. */
  readonly endBlock: number | null
}

/**
 * Reads the parameters of the wallet listing (interface 4.3). Unknown parameters are ignored. Throws `HttpError` 400 for
 * invalid ones.
 */
export function readWalletQuery(parameters: URLSearchParams): WalletQuery {
  const startBlock = readInteger(parameters, 'startBlock') ?? 0
  const endBlock = readInteger(parameters, 'endBlock')
  if (endBlock !== null && startBlock >= endBlock) {
    throw new HttpError(400, `startBlock must be below endBlock, but they are ${startBlock} and ${endBlock}.`)
  }
  return {
    startBlock,
    endBlock,
    ...readPageQuery(parameters),
    sortOrder: readChoice(parameters, 'sortOrder', ['asc', 'desc']) ?? 'asc',
  }
}

/** Reads the parameters of a page. A page size of 0, where it is valid, means the default. */
export function readPageQuery(parameters: URLSearchParams, minSize = 1, defaultSize = 10): PageQuery {
  return {
    pageToken: readSingle(parameters, 'pageToken'),
    pageSize: readInteger(parameters, 'pageSize', minSize, 100) || defaultSize,
  }
}

/** Reads a parameter that must be one of `choices`; null if it is absent. */
export function readChoice<Choice extends string>(
  parameters: URLSearchParams,
  name: string,
  choices: readonly Choice[],
): Choice | null {
  const text = readSingle(parameters, name)
  if (text === null) return null
  const choice = choices.find((candidate) => candidate === text)
  if (choice !== undefined) return choice
  throw new HttpError(400, `${name} must be ${choices.join(' or ')}, but is ${JSON.stringify(text)}.`)
}

/** Reads a whole number; null if it is absent. */
export function readInteger(
  parameters: URLSearchParams,
  name: string,
  min = 0,
  max = Number.MAX_SAFE_INTEGER,
): number | null {
  const text = readSingle(parameters, name)
  if (text === null) return null
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new HttpError(
    400,
    `${name} must be a whole number from ${min} to ${max}, but is ${JSON.stringify(text)}.`,
  )
}

/** Reads a parameter that may occur once; null if it is absent. */
export function readSingle(parameters: URLSearchParams, name: string): string | null {
  const [value = null, ...more] = parameters.getAll(name)
  if (more.length === 0) return value
  throw new HttpError(400, `${name} must be given once, but is given ${more.length + 1} times.`)
}

/** With the quirk `small-pages`: the largest accepted page size, and the most items of a page. */
const [MAX_PAGE_SIZE, MAX_ITEMS] = [40, 20]

/**
 * Applies the quirk `small-pages` to the page size of a query. Only a page size that the request states is refused.
 *
 * @throws `HttpError` 413 or 504 if the quirk refuses the page size
 */
export function limitPage<Query extends PageQuery>(
  query: Query,
  parameters: URLSearchParams,
  quirks: ReadonlySet<Quirk>,
): Query {
  if (!quirks.has('small-pages')) return query
  if (Number(parameters.get('pageSize')) > MAX_PAGE_SIZE)
    throw new HttpError(
      query.sortOrder === 'desc' ? 504 : 413,
      `A page of ${query.pageSize} items is too large: at most ${MAX_PAGE_SIZE} can be requested.`,
    )
  return { ...query, pageSize: Math.min(query.pageSize, MAX_ITEMS) }
}

/** Reads an address from a path, in lower case. Throws `HttpError` 400 if it is malformed. */
export function readAddress(text: string): string {
  if (isAddress(text)) return text.toLowerCase()
  throw new HttpError(400, `address must be 0x and 40 hex digits, but is ${JSON.stringify(text)}.`)
}

export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value)
}

/** Reads a block number, or a block hash in lower case. Throws `HttpError` 400 if it is neither. */
export function readBlockId(text: string): number | string {
  if (HASH.test(text)) return text.toLowerCase()
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  const expected = 'a block number, or a block hash of 0x and 64 hex digits'
  throw new HttpError(400, `blockId must be ${expected}, but is ${JSON.stringify(text)}.`)
}

/** Reads a transaction hash in lower case. Throws `HttpError` 400 if it is malformed. */
export function readHash(text: string): string {
  if (HASH.test(text)) return text.toLowerCase()
  throw new HttpError(400, `txHash must be 0x and 64 hex digits, but is ${JSON.stringify(text)}.`)
}

/**
 * Reads a token id, a decimal integer below 2^256, and strips leading zeros. Throws `HttpError` 400 if it is malformed.
 */
export function readTokenId(text: string): string {
  if (/^\d{1,78}$/.test(text) && BigInt(text) < 2n ** 256n) return String(BigInt(text))
  throw new HttpError(
    400,
    `tokenId must be a whole number below 2^256, in decimal digits, but is ${JSON.stringify(text)}.`,
  )
}

const HASH = /^0x[0-9a-f]{64}$/i
