import { isAddress } from '../path-parameters.ts'
import type { Dialect } from './dialect.ts'
import { ExplorerRejection } from './rejection.ts'

/** A range of blocks and a page of it, as the listings take them. */
export type WindowQuery = {
  /** Inclusive. */
  readonly startBlock: number
  /** Inclusive. */
  readonly endBlock: number
  /** From 1. */
  readonly page: number
  /** Records per page. */
  readonly offset: number
  readonly sort: 'asc' | 'desc'
}

/** Records that all pages of one range can show. */
const RESULT_WINDOW = 10_000

type WindowLimits = Pick<Dialect, 'defaultSort' | 'maxRecords' | 'maxBlock'>

/** Reads the range and the page of a listing. Parameters that are not numbers are ignored, as explorers do. */
export function readWindow(query: URLSearchParams, limits: WindowLimits): WindowQuery {
  const { defaultSort, maxRecords, maxBlock } = limits
  const page = positiveAt(query, 'page') ?? 1
  const offset = positiveAt(query, 'offset') ?? maxRecords
  if (page * offset > RESULT_WINDOW) throw new ExplorerRejection('window-too-large')
  const sort = query.get('sort')
  return {
    startBlock: blockAt(query, { name: 'startblock', maxBlock }) ?? 0,
    endBlock: blockAt(query, { name: 'endblock', maxBlock }) ?? Number.POSITIVE_INFINITY,
    page,
    offset: Math.min(offset, maxRecords),
    sort: sort === 'asc' || sort === 'desc' ? sort : defaultSort,
  }
}

/** Reads an address, in lower case. */
export function readQueryAddress(text: string | null): string {
  if (isAddress(text)) return text.toLowerCase()
  throw new ExplorerRejection('invalid-address')
}

/** Reads addresses separated by commas; those after the twentieth are ignored. */
export function readAddresses(text: string | null): string[] {
  return (text ?? '').split(',').slice(0, 20).map(readQueryAddress)
}

/** Reads a block number; undefined if the parameter is absent, not a number or above the limit. */
export function blockAt(
  query: URLSearchParams,
  { name, maxBlock }: { name: string; maxBlock: number },
): number | undefined {
  const block = wholeAt(query, name)
  return block !== undefined && block <= maxBlock ? block : undefined
}

function positiveAt(query: URLSearchParams, name: string): number | undefined {
  const number = wholeAt(query, name)
  return number !== undefined && number > 0 ? number : undefined
}

function wholeAt(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
