import { compareKeys } from '../../../core/model/item-key.ts'
import type { BlockRange } from '../../../core/model/model.ts'
import { jsonText } from '../../../core/platform/json-text.ts'
import { wholeNumber } from '../../item-time.ts'
import { hashOf, type Item, keyOf, LISTING_NAMES, type ListingName } from '../item.ts'
import type { Placed } from './read-window.ts'

/** The JSON of a page: the records of complete blocks, grouped by transaction. */
export function composeBody(
  records: Readonly<Record<ListingName, readonly Placed[]>>,
  { from, to }: BlockRange,
): Buffer {
  const items = new Map<string, MutableItem>()
  for (const listing of LISTING_NAMES)
    for (const { record } of records[listing]) {
      if (isGenesis(record)) continue
      const item = itemOf(items, record)
      if (wholeNumber(item.blockNumber) === undefined) item.blockNumber = record.blockNumber
      if (listing !== 'normal') item[listing].push(record)
      else item.normal ??= record
    }
  return Buffer.from(jsonText({ from, to, items: sortItems([...items.values()]) }), 'latin1')
}

type MutableItem = Omit<Item, Exclude<ListingName, 'normal'>> &
  Record<Exclude<ListingName, 'normal'>, Placed['record'][]>

/** The coins that a wallet holds since the genesis block; undefined if the records state none. */
export function genesisCoins(records: readonly Placed[]): string | undefined {
  const values = records.flatMap(({ record }) => {
    const coins = isGenesis(record) ? record.value : undefined
    return typeof coins === 'string' && /^\d{1,78}$/.test(coins) ? [BigInt(coins)] : []
  })
  return values.length === 0 ? undefined : String(values.reduce((sum, value) => sum + value))
}

/** Etherscan lists the balances of the genesis block as transactions, which have no block hash. */
const isGenesis = ({ hash }: Placed['record']): boolean =>
  typeof hash === 'string' && hash.startsWith('GENESIS')

function itemOf(items: Map<string, MutableItem>, record: Placed['record']): MutableItem {
  const hash = record.hash ?? record.transactionHash
  const key = hashOf(record) ?? `#${items.size}`
  const found = items.get(key)
  if (found !== undefined) return found
  const lists = { internal: [], erc20: [], erc721: [], erc1155: [] }
  const item: MutableItem = { hash, blockNumber: record.blockNumber, normal: null, ...lists }
  items.set(key, item)
  return item
}

/** Sorts items by their position in the chain; those without one come first. */
function sortItems(items: readonly MutableItem[]): readonly MutableItem[] {
  const keyed = items.map((item) => ({ item, key: keyOf(item) }))
  keyed.sort(({ key: a }, { key: b }) => {
    if (typeof a === 'string' || typeof b === 'string')
      return Number(typeof b === 'string') - Number(typeof a === 'string')
    return compareKeys(a, b)
  })
  return keyed.map(({ item }) => item)
}
