import { ExportError } from '../../../core/model/errors.ts'
import { toLowerCase, toText } from '../../../core/platform/byte-text.ts'
import { hashOf, type ListingName } from '../item.ts'
import type { Placed } from './read-window.ts'

/**
 * Finds a transaction that listings state in different blocks: the chain was reorganized between the requests, or some
 * listings do not show the reorganization yet. Returns PAGE_MALFORMED, or undefined if there is none.
 */
export function findMoved(
  records: Readonly<Record<ListingName, readonly Placed[]>>,
): ExportError | undefined {
  const seen = new Map<string, { block: number; blockHash: string | undefined }>()
  for (const { block, record } of Object.values(records).flat()) {
    const hash = hashOf(record)
    if (hash === undefined) continue
    const blockHash = typeof record.blockHash === 'string' ? toLowerCase(record.blockHash) : undefined
    const known = seen.get(hash)
    if (known === undefined) seen.set(hash, { block, blockHash })
    else if (known.block !== block || (known.blockHash ?? blockHash) !== (blockHash ?? known.blockHash))
      return movedError(hash, known.block, block)
    else known.blockHash ??= blockHash
  }
  return undefined
}

function movedError(hash: string, one: number, other: number): ExportError {
  const where = one === other ? `two versions of block ${one}` : `blocks ${one} and ${other}`
  return new ExportError('PAGE_MALFORMED', `the listings state transaction ${toText(hash)} in ${where}`, {
    fix: 'The chain is being reorganized, or a listing lags behind. Run the same command again later: it resumes.',
  })
}
