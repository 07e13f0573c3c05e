import type { QuotaSettings } from '../core/model/compute-units.ts'
import type { FailureCode } from '../core/model/errors.ts'
import type { FeeDetails } from '../core/model/fees.ts'
import type { Gap } from '../core/model/gaps.ts'
import type { ItemKey } from '../core/model/item-key.ts'
import type { BlockRange, Internals } from '../core/model/model.ts'
import type { RequestContext } from '../http/request.ts'
import type { Kind, OpenedBalances } from './balances.ts'
import type { Meter, ServiceAccess } from './service-access.ts'
import type { AtomicView, View } from './view.ts'

/**
 * A kind of API that histories are read from. Only its folder knows the URLs and the JSON of the service. The
 * pipeline passes items around without looking into them.
 *
 * To add a source: export an object of this type from a new folder next to `data-api`, and name it in `index.ts` and
 * in `core/model/api.ts`.
 *
 * The checkpoint stores the bodies of pages, and everything else is derived from them, also in later runs. So
 * the functions that read bodies and items must be pure, and must understand the bodies of earlier versions.
 * They also run in worker threads.
 */
export type Source = {
  /** Items of a full page. Estimates, and the division of a wallet's blocks among readers, depend on it. */
  pageSize: number
  /** Listings that a wallet's history is united from: reading a range of blocks takes a request of each. @default 1 */
  listingsPerWallet?: number
  /** Query parameter that carries the API key. @default a header does */
  apiKeyParameter?: string
  /** Requests that a page of a wallet's listing takes at most, apart from pages of one large block. */
  requestsPerPage(wallet: Pick<WalletRequest, 'internals'>): number
  /** Opens the listing of a wallet. Sends no request. */
  openWallet(wallet: WalletRequest): WalletListing
  /** Whether `internals: full` adds the listing of internal transactions. @default false */
  listsFullInternals?: boolean
  /** Opens the listing of a wallet's atomic transactions, if the API has one. Sends no request. */
  openAtomic?(wallet: { chain: string; address: string }): WalletListing
  /** Opens the listings of a chain's blocks. Sends no request. */
  openBlocks?(blocks: { chain: string }): BlockListing
  /**
   * Requests the number of the last block that was produced before a time (milliseconds since 1970). Needed only of sources
   * without listings of blocks, to find out whether the chain has reached a block.
   */
  lastBlockBefore?(requestContext: RequestContext, query: { chain: string; timeMs: number }): Promise<number>
  /**
   * Parses and validates the body of a wallet's page. Single invalid items are accepted.
   *
   * @throws PAGE_MALFORMED if the body is not a page, contains an item outside the requested range, or has a
   *   next page and is not in the requested order: its blocks would count as complete
   */
  parsePage(body: Buffer, limits: PageLimits): ParsedPage
  /**
   * Reads one of several answers that a page is composed of. Never throws. Absent if a page is one answer.
   */
  readAnswer?(body: Buffer): Answer
  /**
   * Returns the list of items in a body from the checkpoint: a wallet's page, or a list of block pages. Any other
   * result, or a TypeError, means that the body is not a page.
   *
   * @param parsed the body, parsed by `parseBytes` or `JSON.parse`
   */
  itemsIn(parsed: unknown): unknown
  /**
   * Returns the byte range of each item of a wallet's page, so that single items can be parsed; undefined if
   * they cannot be located without a JSON parser. The whole page is then parsed instead.
   */
  splitPage(body: Buffer): readonly ByteRange[] | undefined
  /**
   * Returns the key of an item, or the reason why it is invalid.
   *
   * @param item parsed by `parseBytes` or `JSON.parse`
   * @param chain the requested chain; items of others are invalid. @default any
   */
  keyOf(item: unknown, chain?: string): ItemKey | string
  /**
   * Reads an item, or returns the reason why it is invalid. Invalid entries of an item are passed to
   * `onBadEntry`; the rest is used.
   *
   * @param item parsed by `parseBytes`
   */
  readView(item: unknown, context: ViewContext): View | string
  /** Like `readView`, for an item of the listing of atomic transactions. Absent if the API has no such listing. */
  readAtomic?(item: unknown, context: ViewContext): AtomicView | string
  /**
   * The on-chain content of an item, as text for comparison. Fields that may change over time without a change
   * on the chain, such as names, prices and metadata, must be excluded.
   */
  onChainFieldsOf(item: unknown): string
  /**
   * Requests what the details of a transaction state about its fee. Undefined if the service has no details,
   * does not state the price in them, or has the transaction in another block. Absent if the service has no details.
   */
  readFee?(requestContext: RequestContext, transaction: FeeRequest): Promise<FeeDetails | undefined>
  /** Whether the listed gas used and gas price can differ from those that were paid. @default false */
  mayMisstateGas?: boolean
  /**
   * Opens the balances that a service reports, for one command.
   *
   * @throws USAGE if no service is named
   */
  openBalances(access: ServiceAccess, chain: string): Promise<OpenedBalances>
  /** The number of requests that reading the balances of a wallet takes at least. */
  balanceRequests(wallet: WalletAssets): number
  /** Opens the meter of a service. Absent if the API counts requests only. */
  openMeter?(settings: QuotaSettings): Meter
}

/** The assets in the ledger of a wallet. */
export type WalletAssets = {
  /** The first exported block. */
  fromBlock: number
  /** How many assets of a kind there are; the native coin is always one. */
  countOf(kind: Kind): number
}

type WalletRequest = {
  chain: string
  address: string
  /** `full` unites the transactions with the listing of internal transactions, if the service has one. @default listing */
  internals?: Internals
}

export type FeeRequest = { chain: string; hash: string; blockHash: string }

/**
 * The listing of one wallet. All readers of the wallet share it, and with it what it has learned, such as the
 * page size that the service can deliver.
 */
export type WalletListing = {
  /**
   * Yields the pages of a block range one after another. Expired page tokens, pages that are too large for the
   * service, and changes of the chain between two requests are handled here. Items may be listed twice.
   */
  readRange(requestContext: RequestContext, request: RangeRequest): AsyncGenerator<RangePage, void, void>
  /**
   * Returns the keys of the first items of a block range. Costs one small request, or two with `internals: full`, which
   * also shows that the service responds for this wallet.
   */
  firstKeys(requestContext: RequestContext, range: BlockRange): Promise<readonly PageKey[]>
  /** Whether the service lists the blocks of a gap now. Costs one small request. Absent if listings have no gaps. */
  canRead?(requestContext: RequestContext, gap: Gap): Promise<boolean>
  /** The smallest page size that was needed so far; undefined if all pages had full size. */
  reducedPageSize(): number | undefined
}

/** Reads the pages of a range. */
export type PageReader = {
  /** Reads a body like `parsePage`, the default; another thread may do so. */
  read?: (body: Buffer, limits: PageLimits) => Page | Promise<Page>
  /** Reads an answer like `readAnswer` of the source, the default; another thread may do so. */
  readAnswer?: (body: Buffer) => Answer | Promise<Answer>
}

export type RangeRequest = PageReader & {
  range: BlockRange
  /** `desc` starts at the newest block: the first page of a run without endBlock then shows the head. */
  order: 'asc' | 'desc'
  /** Items newer than this (milliseconds since 1970) do not count for the pinned end. */
  cutoffMs: number
  /** Items newer than this do not show that their block is indexed in every listing. @default `cutoffMs` */
  indexedBeforeMs?: number
  /** Blocks before this one are known to be indexed. @default 0 */
  indexedTo?: number
  /**
   * Called with each page and the remaining range after it. Returns the part that is still to be read,
   * undefined for none: other readers may have taken some of it. @default all of it
   */
  narrowRange?: (rest: BlockRange, page: Page) => BlockRange | undefined
  /**
   * The highest block known so far, if that is near the head of the chain. @default the highest block of an
   * open range's pages
   */
  head?: () => number | undefined
  /** Depth below the head in which blocks may change between two requests. @default LOOKBACK_BLOCKS */
  mutableBlocks?: number | undefined
}

/** The request of a page. Structured-cloneable, so that it can be passed to a thread. */
export type PageLimits = {
  range: BlockRange
  cutoffMs: number
  order: 'asc' | 'desc'
  /** The requested chain; items of others are invalid. @default any */
  chain?: string
  /** Whether the page was requested by a page token. @default false */
  isContinued?: boolean
  /** Of a composed page: by listing, the records that it contains. @default unknown */
  records?: Readonly<Record<string, ComposedRecords>>
  /** Records that no page will contain, because they are read again. @default none */
  droppedRecords?: ComposedRecords
}

/** Records of answers, by the ids of the answers and the positions in them. */
export type ComposedRecords = { answers: Float64Array; positions: Uint32Array }

/** An answer: its records, or why it has none. Structured-cloneable. */
export type Answer = RecordIndex | { body: Buffer; refusal: Refusal }

/** The records of an answer in its order, by field, so that few objects move between threads. */
export type RecordIndex = {
  /** Identifies the parsed records, which stay in the thread that has read the answer. */
  id: number
  body: Buffer
  /** Offsets of the first byte of each record, and of the one after its last. */
  starts: Uint32Array
  ends: Uint32Array
  /** NaN for a record that does not state its block. */
  blocks: Float64Array
  /** Times in seconds since 1970; 0 if unknown. */
  seconds: Float64Array
  /** In lower case; empty if a record states none. */
  hashes: readonly string[]
  blockHashes: readonly string[]
  /** The values of records that state balances of the genesis block, by their position. */
  genesis: ReadonlyMap<number, string>
}

type Refusal = {
  code: FailureCode
  message: string
  fix: string
  status: number | undefined
  isPermanent: boolean
  /** The service has not processed all blocks. */
  isUnprocessed: boolean
}

/** A page of a wallet's listing. Structured-cloneable. */
export type Page = {
  /** The body as received, or as composed by the source (JSON). The checkpoint stores it unchanged. */
  body: Buffer
  /** Items in the page, invalid ones included. */
  items: number
  /** Items without a valid position in the chain. */
  bad: number
  /** Lowest and highest block in the page; undefined if no item has a block. */
  blocks: { min: number; max: number } | undefined
  /** Keys of the valid items, in page order. */
  keys: readonly PageKey[]
  /**
   * Highest block among items that are certainly not newer than `cutoffMs`. It pins the end of a run without
   * endBlock.
   */
  head: number | undefined
  /** Items that may be newer than `cutoffMs`. */
  afterCutoff: number
  /** The source's token of the next page; undefined for the last page. */
  next: string | undefined
}

export type PageKey = Pick<ItemKey, 'block' | 'hash' | 'timeMs' | 'lastMs' | 'second'>

/** A page, the remaining range after it (undefined: none), and the blocks that it completes. */
export type RangePage = Page & {
  rest: BlockRange | undefined
  covered: BlockRange
  /** Blocks among them that the service could not list completely. @default none */
  gaps?: readonly Gap[]
  /** Coins that the wallet held before its first transaction, in the smallest unit, if the page states them. @default none */
  opening?: string
  /**
   * Of a page that is composed of several answers: the newest block that was indexed when the service gave each of them,
   * null if they show none. @default the newest block of the page
   */
  indexed?: number | undefined | null
  /** Whether it continues the page before it. Otherwise it lists the remaining range from its start. @default false */
  isContinued?: boolean
}

/** A parsed page, so that its items need not be parsed again. */
export type ParsedPage = {
  page: Page
  /** Its items. Their strings are byte strings. */
  items: readonly unknown[]
  /** The key of each item, or the reason why it is invalid. */
  keys: readonly (ItemKey | string)[]
}

/** Half-open range of byte offsets. */
export type ByteRange = readonly [from: number, to: number]

export type ViewContext = {
  /** The requested chain; items and entries of others are invalid. */
  chain: string
  onBadEntry: OnBadEntry
}

/** Called with each invalid entry, the name of its list, and the reason. */
export type OnBadEntry = (list: string, entry: unknown, reason: string) => void

/** The listings of a chain's blocks. All readers of a job share it, as those of a wallet share its listing. */
export type BlockListing = {
  /**
   * Reads all pages of a block.
   *
   * @throws REQUEST_REFUSED with status 404 if the service does not have the block; PAGE_MALFORMED if a page
   *   contains a transaction of another block
   */
  readBlock(requestContext: RequestContext, request: BlockRequest): Promise<BlockPages>
  /**
   * Returns the times of the first transactions of a block. Costs one small request, which is not repeated if
   * the response is malformed. Rejects if the service does not have the block.
   */
  blockTimes(requestContext: RequestContext, block: number): Promise<readonly BlockTime[]>
  /** The smallest page size that was needed so far; undefined if all pages had full size. */
  reducedPageSize(): number | undefined
}

export type BlockTime = Pick<ItemKey, 'timeMs' | 'lastMs'>

export type BlockRequest = {
  block: number
  /** First pages of the block, if an earlier run has read them. */
  partial?: PartialBlock | undefined
  /** Called with the pages read so far if reading fails before the last page. */
  onIncomplete?: (partial: PartialBlock) => Promise<void>
}

/** Pages of one block's listing. */
export type BlockPages = {
  /** The pages as received (JSON), joined by commas. */
  body: Buffer
  pages: number
  items: number
  /** Items without a valid position in the chain. */
  bad: number
}

/** The first pages of a block and the source's token of the next one, with the page size that the token belongs to. */
export type PartialBlock = BlockPages & {
  token: string
  /** @default the size of a full page */
  pageSize?: number | undefined
}
