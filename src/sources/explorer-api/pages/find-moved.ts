import { ExportError } from '../../../core/model/errors.ts'
import { toText } from '../../../core/platform/byte-text.ts'
import type { ListingName } from '../item.ts'
import type { Located } from './compose-body.ts'

/**
 * Finds a transaction that listings state in different blocks, or a block of which they state different hashes: the chain
 * was reorganized between the requests, or some listings do not show the reorganization yet. Records newer than
 * `cutoffMs`, which are not exported, do not count. Returns PAGE_MALFORMED, or undefined if there is none.
 */
export function findMoved(
  records: Readonly<Record<ListingName, readonly Located[]>>,
  cutoffMs: number,
): ExportError | undefined {
  const [blocks, hashes] = [new Map<string, number>(), new Map<number, string>()]
  for (const list of Object.values(records))
    for (const { answer, at } of list) {
      const [hash = '', block = Number.NaN] = [answer.hashes[at], answer.blocks[at]]
      if (hash === '' || Number.isNaN(block) || (answer.seconds[at] ?? 0) * 1000 > cutoffMs) continue
      const otherBlock = blocks.get(hash) ?? block
      if (otherBlock !== block)
        return movedError(`transaction ${toText(hash)} in blocks ${otherBlock} and ${block}`)
      blocks.set(hash, block)
      const blockHash = answer.blockHashes[at] ?? ''
      if (blockHash === '') continue
      if ((hashes.get(block) ?? blockHash) !== blockHash) return movedError(`two versions of block ${block}`)
      hashes.set(block, blockHash)
    }
  return undefined
}

function movedError(what: string): ExportError {
  return new ExportError('PAGE_MALFORMED', `the listings state ${what}`, {
    fix: 'The chain is being reorganized, or a listing lags behind. Run the same command again later: it resumes.',
  })
}
