import { HttpError } from './http-error.ts'

export type WalletQuery = {
  readonly pageToken: string | null
  readonly pageSize: number
  /** Inclusive. */
  readonly startBlock: number
  /** Exclusive; null for up to the head. */
  readonly endBlock: number | null
  readonly sortOrder: 'asc' | 'desc'
}
/** A query and the address, in lower case. */
export type WalletListing = WalletQuery & { readonly address: string }
export type BlockQuery = Pick<WalletQuery, 'pageToken' | 'pageSize'>

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
    pageToken: readSingle(parameters, 'pageToken'),
    pageSize: readInteger(parameters, 'pageSize', { min: 1, max: 100 }) ?? WALLET_PAGE_SIZE,
    startBlock,
    endBlock,
    sortOrder: readChoice(parameters, 'sortOrder', ['asc', 'desc']) ?? 'asc',
  }
}

/** Reads the parameters of the block listing (interface 4.1). A page size of 0 (the default) means 100. */
export function readBlockQuery(parameters: URLSearchParams): BlockQuery {
  return {
    pageToken: readSingle(parameters, 'pageToken'),
    pageSize: readInteger(parameters, 'pageSize', { min: 0, max: 100 }) || BLOCK_PAGE_SIZE,
  }
}

/** Reads the parameters of the listing of webhooks, of a webhook's addresses, or of balances. */
export function readPageQuery(parameters: URLSearchParams): BlockQuery {
  return {
    pageToken: readSingle(parameters, 'pageToken'),
    pageSize: readInteger(parameters, 'pageSize', { min: 1, max: 100 }) ?? PAGE_SIZE,
  }
}

export type BalanceQuery = BlockQuery & {
  /** null for the head. */
  readonly blockNumber: number | null
  /** null for all contracts. */
  readonly contractAddresses: readonly string[] | null
}

/** Reads the parameters of the balances. */
export function readBalanceQuery(parameters: URLSearchParams): BalanceQuery {
  return {
    ...readPageQuery(parameters),
    blockNumber: readInteger(parameters, 'blockNumber'),
    contractAddresses: readSingle(parameters, 'contractAddresses')?.split(',') ?? null,
  }
}

type AtomicQuery = BlockQuery & {
  readonly addresses: readonly string[]
  /** Unix seconds; the end is exclusive. */
  readonly startTimestamp: number | null
  readonly endTimestamp: number | null
  readonly sortOrder: 'asc' | 'desc'
}

/** Reads the parameters of the listing of atomic transactions. */
export function readAtomicQuery(parameters: URLSearchParams): AtomicQuery {
  const addresses = readSingle(parameters, 'addresses')
  if (addresses === null) throw new HttpError(400, 'addresses must be given, separated by commas.')
  return {
    ...readPageQuery(parameters),
    addresses: addresses.split(','),
    startTimestamp: readInteger(parameters, 'startTimestamp'),
    endTimestamp: readInteger(parameters, 'endTimestamp'),
    sortOrder: readChoice(parameters, 'sortOrder', ['asc', 'desc']) ?? 'desc',
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

const WALLET_PAGE_SIZE = 10
const PAGE_SIZE = 10
const BLOCK_PAGE_SIZE = 100

function readInteger(
  parameters: URLSearchParams,
  name: string,
  { min, max } = { min: 0, max: Number.MAX_SAFE_INTEGER },
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
function readSingle(parameters: URLSearchParams, name: string): string | null {
  const [value = null, ...more] = parameters.getAll(name)
  if (more.length > 0)
    throw new HttpError(400, `${name} must be given once, but is given ${more.length + 1} times.`)
  return value
}
