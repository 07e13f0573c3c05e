import type { Chain } from '../chains.ts'
import type { ServiceResponse } from '../data-service.ts'
import type { JsonObject } from '../json.ts'
import type { ListingName, RecordBuilders } from './records.ts'

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
  /** The records that a listing takes from a transaction. */
  readonly listings: Readonly<Record<ListingName, (item: JsonObject) => readonly JsonObject[]>>
  readonly records: RecordBuilders
  /** Blocks at the head whose internal transactions are not listed yet; a range that has such blocks is incomplete. */
  readonly unprocessedBlocks: number
  /** The message of a listing without records. @default No transactions found */
  readonly emptyMessages: Readonly<Partial<Record<ListingName, string>>>
  /** The actions of each module. */
  readonly modules: Readonly<Record<string, Readonly<Record<string, ExplorerAction>>>>
  /** The answer to a rejected request. */
  readonly reject: (reason: RejectionReason, perSecond: number) => ServiceResponse
}

/** Answers the requests of one action. Throws `ExplorerRejection` if a request is rejected. */
export type ExplorerAction = (request: ExplorerRequest) => Promise<ServiceResponse>

export type ExplorerRequest = {
  readonly query: URLSearchParams
  readonly chain: Chain
  /** The last block that the chain shows. */
  readonly head: number
  readonly dialect: Dialect
  /** The ids of the records of each listing that was requested before. */
  readonly idsByListing: Map<string, readonly number[]>
}

/** Why a request is rejected. Each explorer API has its own answer for each reason. */
export type RejectionReason =
  | 'not-found'
  | 'unsupported-chain'
  | 'missing-key'
  | 'wrong-key'
  | 'too-many-requests'
  | 'unknown-module'
  | 'unknown-action'
  | 'invalid-address'
  | 'window-too-large'
  | 'no-block'
  | 'not-recorded'

/** Rejects a request. It does not leave this folder: the service turns it into an answer. */
export class ExplorerRejection extends Error {
  readonly reason: RejectionReason

  constructor(reason: RejectionReason) {
    super(reason)
    this.name = 'ExplorerRejection'
    this.reason = reason
  }
}
