import { isAddress } from '../parameters.ts'
import { ExplorerRejection } from './dialect.ts'

/** Reads an address, in lower case. */
export function readQueryAddress(text: string | null): string {
  if (isAddress(text)) return text.toLowerCase()
  throw new ExplorerRejection('invalid-address')
}

/** Reads a block number; undefined if the parameter is absent, not a number or above the limit. */
export function blockAt(query: URLSearchParams, name: string, maxBlock: number): number | undefined {
  const block = wholeAt(query, name)
  return block !== undefined && block <= maxBlock ? block : undefined
}

/** Reads a whole number. Parameters that are not numbers are ignored, as explorers do. */
export function wholeAt(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
