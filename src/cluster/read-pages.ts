import { openPageLog, type PageLog } from '../checkpoint/page-log.ts'
import { rangesBetween, uniteRanges } from '../core/model/block-ranges.ts'
import { ExportError } from '../core/model/errors.ts'
import type { BlockRange } from '../core/model/model.ts'
import { pagesPath, type Read, shownBy } from './read-results.ts'
import { type Record, verifiedPath } from './run-state.ts'

/** Opens the pages of a read. Throws OUTPUT_FAILED where they are not what was noted of them. */
export async function openReadPages(record: Record, read: Read): Promise<PageLog> {
  const log = await openPageLog(await verifiedPath(record, pagesPath(read.token), read.sha256))
  requireCovered(read, log)
  return log
}

/** Throws OUTPUT_FAILED where pages are of other wallets or blocks than was noted, or do not cover what they should. */
function requireCovered(read: Read, { identity, pages }: PageLog): void {
  const { chain, addresses, covered, token } = read
  const { first, from, to } = covered
  const found = new Map<string, BlockRange[]>()
  for (const { wallet, covered } of pages) found.set(wallet, [...(found.get(wallet) ?? []), covered])
  const isOfThese = [...found.keys()].every((wallet) => addresses.includes(wallet))
  const isOfPlan = identity?.chain === chain && identity.startBlock === from && identity.endBlock === to
  const isWhole = [...shownBy(read)].every(([wallet, wanted]) => {
    const have = uniteRanges(found.get(addresses[wallet - first] ?? '') ?? [])
    return wanted.every((range) => rangesBetween(have, range).length === 0)
  })
  if (isOfThese && isOfPlan && isWhole) return
  throw new ExportError('OUTPUT_FAILED', `the pages ${token} of the run do not hold what was noted of them`)
}
