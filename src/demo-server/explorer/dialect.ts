import type { Chain } from '../chain.ts'
import type { ServiceResponse } from '../data-service.ts'
import type { ListingName, Listings } from './listings.ts'
import type { RecordIndex } from './record-index.ts'
import type { RecordBuilders } from './records.ts'
import type { RejectionReason } from './rejection.ts'

/** What one explorer API does differently from another. */
export type Dialect = {
  /** Paths that requests are accepted at. A group `chain` is the chain of the request. */
  readonly paths: RegExp
  /** Whether requests must name their chain. Otherwise the first chain is the default. */
  readonly requiresChain: boolean
  /** The order of a listing if the request names none. */
  readonly defaultSort: 'asc' | 'desc'
  /** Records per answer. A larger offset is lowered to it. */
  readonly maxRecords: number
  /** Block numbers above it are ignored. */
  readonly maxBlock: number
  /** Whether delegate calls are listed, with the value of their caller. */
  readonly listsInherited: boolean
  readonly listings: Listings
  readonly records: RecordBuilders
  /** Blocks at the head whose internal transactions are not listed yet; a range that has such blocks is incomplete. */
  readonly unprocessedBlocks: number
  /** The message of a listing without records. */
  readonly emptyMessages: Readonly<Record<ListingName, string>>
  /** The actions of each module. */
  readonly modules: Readonly<Record<string, Readonly<Record<string, ExplorerAction>>>>
  /** The answer to a rejected request. */
  readonly reject: (reason: RejectionReason, limit: { readonly perSecond: number }) => ServiceResponse
}

/** Answers the requests of one action. Throws `ExplorerRejection` if a request is rejected. */
export type ExplorerAction = (context: ActionContext) => Promise<ServiceResponse>

export type ActionContext = {
  readonly query: URLSearchParams
  readonly chain: Chain
  readonly index: RecordIndex
  readonly dialect: Dialect
}

/** The last block that a chain shows. */
export async function headOf(chain: Chain): Promise<number> {
  return Math.min(chain.head(), await chain.last())
}
