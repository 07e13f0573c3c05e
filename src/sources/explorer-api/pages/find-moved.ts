import { ExportError } from '../../../core/model/errors.ts'
import { toLowerCase, toText } from '../../../core/platform/byte-text.ts'
import { wholeNumber } from '../../item-time.ts'
import { hashOf, type ListingName } from '../item.ts'
import type { Placed } from './read-window.ts'

/**
 * Finds a transaction that listings state in different blocks, or a block of which they state different hashes: the chain
 * was reorganized between the requests, or some listings do not show the reorganization yet. Records newer than
 * `cutoffMs`, which are not exported, do not count. Returns PAGE_MALFORMED, or undefined if there is none.
 */
export function findMoved(
  records: Readonly<Record<ListingName, readonly Placed[]>>,
  cutoffMs: number,
): ExportError | undefined {
  const [blocks, hashes] = [new Map<string, number>(), new Map<number, string>()]
  for (const { record } of Object.values(records).flat()) {
    const [hash, block] = [hashOf(record), wholeNumber(record.blockNumber)]
    if (hash === undefined || block === undefined || isAfter(record, cutoffMs)) continue
    const knownBlock = blocks.get(hash) ?? block
    if (knownBlock !== block)
      return movedError(`transaction ${toText(hash)} in blocks ${knownBlock} and ${block}`)
    blocks.set(hash, block)
    const blockHash = blockHashOf(record)
    if (blockHash === undefined) continue
    if ((hashes.get(block) ?? blockHash) !== blockHash) return movedError(`two versions of block ${block}`)
    hashes.set(block, blockHash)
  }
  return undefined
}

const isAfter = ({ timeStamp }: Placed['record'], cutoffMs: number) =>
  (wholeNumber(timeStamp) ?? 0) * 1000 > cutoffMs

const blockHashOf = ({ blockHash }: Placed['record']) =>
  typeof blockHash === 'string' && blockHash !== '' ? toLowerCase(blockHash) : undefined

function movedError(what: string): ExportError {
  return new ExportError('PAGE_MALFORMED', `the listings state ${what}`, {
    fix: 'The chain is being reorganized, or a listing lags behind. Run the same command again later: it resumes.',
  })
}
