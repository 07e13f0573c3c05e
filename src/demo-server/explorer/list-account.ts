import type { ServiceResponse } from '../data-service.ts'
import { type JsonObject, objectOf } from '../json.ts'
import { lowerBound } from '../lower-bound.ts'
import { emptyAnswer, incompleteAnswer, resultAnswer } from './answers.ts'
import { type ActionContext, type ExplorerAction, headOf } from './dialect.ts'
import { readQueryAddress, readWindow, type WindowQuery } from './explorer-query.ts'
import type { ListingName } from './listings.ts'
import { type ListingQuery, locate } from './record-index.ts'

/** The action of a listing: the records of an address in a range of blocks, one page at a time. */
function listAccount(name: ListingName): ExplorerAction {
  return async (context) => {
    const { query, chain, dialect } = context
    const address = readQueryAddress(query.get('address'))
    const token = query.get('contractaddress')
    const contract = token === null ? undefined : readQueryAddress(token)
    const window = readWindow(query, dialect)
    const head = await headOf(chain)
    const processed = head - (name === 'txlistinternal' ? dialect.unprocessedBlocks : 0)
    const records = await selectRecords(context, { name, address, contract, window, head, processed })
    const isComplete = processed === head || window.endBlock <= processed
    return isComplete ? answerWith(records, dialect.emptyMessages[name]) : incompleteAnswer(records)
  }
}

/** The actions of the listings, by name. */
export const LISTING_ACTIONS: Readonly<Record<ListingName, ExplorerAction>> = {
  txlist: listAccount('txlist'),
  txlistinternal: listAccount('txlistinternal'),
  tokentx: listAccount('tokentx'),
  tokennfttx: listAccount('tokennfttx'),
  token1155tx: listAccount('token1155tx'),
}

function answerWith(records: readonly JsonObject[], emptyMessage: string): ServiceResponse {
  return records.length === 0 ? emptyAnswer(emptyMessage) : resultAnswer(records)
}

type Selection = ListingQuery & {
  readonly window: WindowQuery
  readonly head: number
  /** The last block with records. */
  readonly processed: number
}

async function selectRecords(
  { chain, index, dialect }: ActionContext,
  { window, head, processed, ...listing }: Selection,
): Promise<JsonObject[]> {
  const { name } = listing
  const chainItems = await chain.items()
  const blockOf = (id: number) => chainItems.blockNumbers[locate(id).position] as number
  const ids = index.idsOf(chainItems, listing)
  return selectWindow({ ids, blockOf }, window, processed).map((id) => {
    const { position, index: at } = locate(id)
    const item = chainItems.items[position] as JsonObject
    return dialect.records[name]({
      native: objectOf(item.nativeTransaction),
      entry: dialect.listings[name](item)[at] as JsonObject,
      index: at,
      cumulativeGas: index.cumulativeGasAt(chainItems, position),
      head,
    })
  })
}

/** The records of a listing: ascending ids, and the block of each. */
type Records = {
  readonly ids: readonly number[]
  readonly blockOf: (id: number) => number
}

/** The ids of one page of a range, in listing order. Pages of a growing chain shift in descending order. */
function selectWindow({ ids, blockOf }: Records, window: WindowQuery, head: number): readonly number[] {
  const { startBlock, endBlock, page, offset, sort } = window
  const low = lowerBound(ids, (id) => blockOf(id) >= startBlock)
  const high = Math.max(
    low,
    lowerBound(ids, (id) => blockOf(id) > Math.min(endBlock, head)),
  )
  const skipped = (page - 1) * offset
  if (sort === 'asc') return ids.slice(Math.min(low + skipped, high), Math.min(low + skipped + offset, high))
  return ids.slice(Math.max(low, high - skipped - offset), Math.max(low, high - skipped)).reverse()
}
