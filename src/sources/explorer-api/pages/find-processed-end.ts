import type { BlockRange } from '../../../core/model/model.ts'
import type { RequestContext } from '../../../http/request.ts'
import { isUnprocessed } from '../requests/answer.ts'
import { type ChainRequest, requestHead } from '../requests/request-head.ts'
import { readFirstRecord } from './read-window.ts'

/** Distances below the head, in blocks, at which the end of the processed blocks is looked for. */
const DISTANCES = [16, 128, 1_024, 8_192, 65_536] as const

/**
 * Returns an exclusive end of a range, as near to the head as it can be found with a few requests, before which the
 * explorer has processed all internal transactions; undefined if there is none. Throws like `request`.
 */
export async function findProcessedEnd(
  requestContext: RequestContext,
  wallet: ChainRequest & { address: string },
  { from }: BlockRange,
): Promise<number | undefined> {
  const head = await requestHead(requestContext, wallet)
  for (const distance of DISTANCES) {
    const to = head + 1 - distance
    if (to <= from) return undefined
    if (await isProcessed(requestContext, wallet, { from, to })) return to
  }
  return undefined
}

async function isProcessed(
  requestContext: RequestContext,
  { dialect, chain, address }: ChainRequest & { address: string },
  range: BlockRange,
): Promise<boolean> {
  const spec = { dialect, chain, address, range, listing: 'internal', order: 'desc' } as const
  try {
    await readFirstRecord(requestContext, spec)
    return true
  } catch (thrown) {
    if (isUnprocessed(thrown)) return false
    throw thrown
  }
}
