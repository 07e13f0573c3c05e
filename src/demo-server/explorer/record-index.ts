import type { ChainItems } from '../chain.ts'
import { type JsonObject, objectOf } from '../json.ts'
import { once } from '../once.ts'
import { partiesOf } from '../wallet-view.ts'
import { addressOf, isListedInternal, type ListingName, type Listings, tokenOf } from './listings.ts'

/** What a listing contains. */
export type ListingQuery = {
  readonly name: ListingName
  /** In lower case. */
  readonly address: string
  /** Only transfers of this token, in lower case. @default all */
  readonly contract?: string | undefined
}

/** A record's position in the chain. */
export type Located = { readonly position: number; readonly index: number }

/** Finds the records of the listings. What it has found for a chain is kept as long as the chain. */
export type RecordIndex = {
  /** Ids, ascending, of the records of a listing. */
  idsOf(chainItems: ChainItems, query: ListingQuery): readonly number[]
  /** Gas used in a block up to and including the transaction at a position. */
  cumulativeGasAt(chainItems: ChainItems, position: number): number
}

export function createRecordIndex({ listings, listsInherited }: ListingRules): RecordIndex {
  const chains = new WeakMap<ChainItems, ChainIndex>()
  const indexOf = (chainItems: ChainItems) => {
    const index = chains.get(chainItems) ?? {
      ids: new Map(),
      cumulativeGas: once(() => sumGas(chainItems)),
    }
    chains.set(chainItems, index)
    return index
  }
  return {
    idsOf(chainItems, query) {
      const { ids } = indexOf(chainItems)
      const key = `${query.name} ${query.address} ${query.contract ?? ''}`
      const found = ids.get(key) ?? findIds(chainItems, { ...query, listings, listsInherited })
      ids.set(key, found)
      return found
    },
    cumulativeGasAt: (chainItems, position) => indexOf(chainItems).cumulativeGas()[position] ?? 0,
  }
}

/** What a listing takes from a transaction. */
type ListingRules = { readonly listings: Listings; readonly listsInherited: boolean }

type ChainIndex = {
  readonly ids: Map<string, readonly number[]>
  readonly cumulativeGas: () => readonly number[]
}

/** An id is the position of the transaction, times this number, plus the index in its list. */
const MAX_ENTRIES = 2 ** 16

export function locate(id: number): Located {
  return { position: Math.floor(id / MAX_ENTRIES), index: id % MAX_ENTRIES }
}

type FindQuery = ListingQuery & ListingRules

function findIds({ items, positionsOf }: ChainItems, query: FindQuery): number[] {
  return positionsOf(query.address).flatMap((position) =>
    query.listings[query.name](items[position] as JsonObject).flatMap((entry, index) =>
      isIn(entry, query) ? [position * MAX_ENTRIES + index] : [],
    ),
  )
}

function isIn(entry: JsonObject, { name, address, contract, listsInherited }: FindQuery): boolean {
  if (!partiesOf(entry).includes(address)) return false
  if (contract !== undefined && addressOf(tokenOf(entry)) !== contract) return false
  return name !== 'txlistinternal' || isListedInternal(entry, { listsInherited })
}

function sumGas({ items, blockNumbers }: ChainItems): number[] {
  const sums: number[] = []
  for (const [position, item] of items.entries()) {
    const used = Number(objectOf(item.nativeTransaction).gasUsed ?? 0)
    const isFirst = blockNumbers[position] !== blockNumbers[position - 1]
    sums.push(used + (isFirst ? 0 : (sums.at(-1) ?? 0)))
  }
  return sums
}
