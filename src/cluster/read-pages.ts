import { openPageLog, type PageLog } from '../checkpoint/inspect-checkpoint.ts'
import { gapsIn, unionRanges } from '../core/model/block-ranges.ts'
import { ExportError } from '../core/model/errors.ts'
import type { BlockRange } from '../core/model/model.ts'
import { coveredBy, pagesPath, type ReadResult } from './read-results.ts'
import { type RunState, verifiedPath } from './run-state.ts'

/** Opens the pages of a read. Throws OUTPUT_FAILED if they do not match their record. */
export async function openReadPages(runState: RunState, read: ReadResult): Promise<PageLog> {
  const log = await openPageLog(await verifiedPath(runState, pagesPath(read.token), read.sha256))
  requireCovered(read, log)
  return log
}

/**
 * Throws OUTPUT_FAILED if pages are of other wallets or blocks than recorded, or do not cover the recorded
 * blocks.
 */
function requireCovered(read: ReadResult, { identity, pages }: PageLog): void {
  const { chain, addresses, covered, token } = read
  const { first, from, to } = covered
  const found = new Map<string, BlockRange[]>()
  for (const { wallet, covered } of pages) found.set(wallet, [...(found.get(wallet) ?? []), covered])
  const hasExpectedWallets = [...found.keys()].every((wallet) => addresses.includes(wallet))
  const matchesPlan = identity?.chain === chain && identity.startBlock === from && identity.endBlock === to
  const isComplete = [...coveredBy(read)].every(([wallet, expected]) => {
    const coveredRanges = unionRanges(found.get(addresses[wallet - first] ?? '') ?? [])
    return expected.every((range) => gapsIn(coveredRanges, range).length === 0)
  })
  if (hasExpectedWallets && matchesPlan && isComplete) return
  throw new ExportError('OUTPUT_FAILED', `the pages ${token} of the run do not match their record`)
}
