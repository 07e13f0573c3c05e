import type { ItemKey } from '../core/model/item-key.ts'
import type { RequestContext } from '../http/request.ts'

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
