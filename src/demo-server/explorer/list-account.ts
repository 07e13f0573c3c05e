import { jsonResponse } from '../http-error.ts'
import { addressOf, type JsonObject, objectOf } from '../json.ts'
import { entryIds, idsInBlocks, locate } from '../listings.ts'
import { type Dialect, type ExplorerAction, ExplorerRejection, type ExplorerRequest } from './dialect.ts'
import { blockAt, readQueryAddress, wholeAt } from './explorer-query.ts'
import { type ListingName, tokenOf } from './records.ts'

/** The action of a listing: the records of an address in a range of blocks, one page at a time. */
function listAccount(name: ListingName): ExplorerAction {
  return async (request) => {
    const { query, chain, head, dialect } = request
    const address = readQueryAddress(query.get('address'))
    const token = query.get('contractaddress')
    const contract = token === null ? undefined : readQueryAddress(token)
    const { startBlock, endBlock, skipped, limit, sort } = readWindow(query, dialect)
    const processed = head - (name === 'txlistinternal' ? dialect.unprocessedBlocks : 0)
    const chainItems = await chain.items()
    const blockOf = (id: number) => chainItems.blockNumbers[locate(id).position] as number
    const listed = await idsOf(request, name, address, contract)
    const ids = idsInBlocks(listed, blockOf, startBlock, Math.min(endBlock, processed) + 1)
    const records = selectWindow(ids, skipped, limit, sort).map((id) => {
      const { position, index } = locate(id)
      const item = chainItems.items[position] as JsonObject
      return dialect.records[name]({
        native: objectOf(item.nativeTransaction),
        entry: dialect.listings[name](item)[index] as JsonObject,
        index,
        cumulativeGas: chainItems.cumulativeGasAt(position),
        head,
      })
    })
    const isComplete = processed === head || endBlock <= processed
    if (!isComplete) return jsonResponse(200, { status: '2', message: INCOMPLETE, result: records })
    const emptyMessage = dialect.emptyMessages[name] ?? 'No transactions found'
    return records.length === 0
      ? jsonResponse(200, { status: '0', message: emptyMessage, result: [] })
      : jsonResponse(200, { status: '1', message: 'OK', result: records })
  }
}

/** The message of a list that lacks the internal transactions of blocks that are not processed yet. */
const INCOMPLETE = 'Some internal transactions within this block range have not yet been processed'

/** The actions of the listings, by name. */
export const LISTING_ACTIONS: Readonly<Record<ListingName, ExplorerAction>> = {
  txlist: listAccount('txlist'),
  txlistinternal: listAccount('txlistinternal'),
  tokentx: listAccount('tokentx'),
  tokennfttx: listAccount('tokennfttx'),
  token1155tx: listAccount('token1155tx'),
}

/** Ids, ascending, of the records of a listing, optionally only those of one token. */
async function idsOf(
  { chain, dialect, idsByListing }: ExplorerRequest,
  name: ListingName,
  address: string,
  contract: string | undefined,
): Promise<readonly number[]> {
  const key = `${chain.id} ${name} ${address} ${contract ?? ''}`
  const isListed = (entry: JsonObject) =>
    (contract === undefined || addressOf(tokenOf(entry)).toLowerCase() === contract) &&
    (name !== 'txlistinternal' || isListedInternal(entry, dialect))
  const ids =
    idsByListing.get(key) ?? entryIds(await chain.items(), address, dialect.listings[name], isListed)
  idsByListing.set(key, ids)
  return ids
}

/** Whether explorers list an internal transaction: any but a call without value. */
function isListedInternal({ internalTxType, value }: JsonObject, { listsInherited }: Dialect): boolean {
  const type = String(internalTxType)
  if (type === 'DELEGATECALL') return listsInherited && value !== '0'
  return value !== '0' || !VALUE_CALLS.has(type)
}

const VALUE_CALLS: ReadonlySet<string> = new Set(['CALL', 'CALLCODE', 'STATICCALL'])

/** Records that all pages of one range can show. */
const RESULT_WINDOW = 10_000

/** Reads the range of blocks, both inclusive, and the page of a listing. */
function readWindow(query: URLSearchParams, { defaultSort, maxRecords, maxBlock }: Dialect) {
  const page = wholeAt(query, 'page') || 1
  const offset = wholeAt(query, 'offset') || maxRecords
  if (page * offset > RESULT_WINDOW) throw new ExplorerRejection('window-too-large')
  const limit = Math.min(offset, maxRecords)
  const sort = query.get('sort')
  return {
    startBlock: blockAt(query, 'startblock', maxBlock) ?? 0,
    endBlock: blockAt(query, 'endblock', maxBlock) ?? Number.POSITIVE_INFINITY,
    skipped: (page - 1) * limit,
    limit,
    sort: sort === 'asc' || sort === 'desc' ? sort : defaultSort,
  }
}

/** The ids of one page of a range, in listing order. Pages of a growing chain shift in descending order. */
function selectWindow(
  ids: readonly number[],
  skipped: number,
  limit: number,
  sort: 'asc' | 'desc',
): readonly number[] {
  if (sort === 'asc') return ids.slice(skipped, skipped + limit)
  const end = Math.max(0, ids.length - skipped)
  return ids.slice(Math.max(0, end - limit), end).reverse()
}
