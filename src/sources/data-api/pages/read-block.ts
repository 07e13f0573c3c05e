import { ExportError } from '../../../core/model/errors.ts'
import { type RequestContext, type RequestSpec, request } from '../../../http/request.ts'
import {
  type AdaptivePageSize,
  createAdaptivePageSize,
  isPageTooLarge,
  MIN_PAGE_SIZE,
  shrinkPages,
} from '../../adaptive-page-size.ts'
import { parseBody } from '../../check-page.ts'
import type { BlockPages, BlockRequest, BlockTime, Page, PartialBlock } from '../../source.ts'
import { PAGE_SIZE, path, queryOf } from '../operations/call.ts'
import { itemsOf, readPage } from './page.ts'
import { endlessListingError, ignoreRefusedToken, MAX_IDLE_PAGES, MAX_IDLE_RESTARTS } from './page-guards.ts'

export type BlockSpec = BlockRequest & {
  chain: string
  /** Page size, shared by all blocks of a job. @default one of its own */
  size?: AdaptivePageSize
}

/**
 * Reads all pages of one block's listing (interface section 4.1). Starts over if a page token is refused or
 * repeated, or if a page has another block hash than the pages before (the block was replaced). If a page is
 * too large for the service, the block is requested in smaller pages.
 *
 * @throws REQUEST_REFUSED with status 404 if the service does not have the block; PAGE_MALFORMED if a page
 *   contains a transaction of another block or the page tokens are unusable
 */
export async function readBlock(requestContext: RequestContext, spec: BlockSpec): Promise<BlockPages> {
  const { size = createAdaptivePageSize() } = spec
  // A token may count pages of its size.
  let partial = isDeliverable(spec.partial, size) ? spec.partial : undefined
  for (let starts = 0; starts < MAX_IDLE_RESTARTS; ) {
    const pageSize = partial === undefined ? size.current() : pageSizeOf(partial)
    try {
      const pages = await followTokens(requestContext, { ...spec, size, pageSize, partial })
      if (pages !== undefined) return pages
      starts += 1
    } catch (thrown) {
      shrinkPages(requestContext, { size, pageSize, thrown })
    }
    partial = undefined
  }
  throw new ExportError(
    'PAGE_MALFORMED',
    `block ${spec.block}: the service repeats or refuses its own page tokens`,
  )
}

const pageSizeOf = ({ pageSize = PAGE_SIZE }: PartialBlock) => pageSize

function isDeliverable(partial: PartialBlock | undefined, size: AdaptivePageSize): boolean {
  return partial !== undefined && pageSizeOf(partial) <= size.current()
}

type SizedBlockSpec = BlockSpec & { size: AdaptivePageSize; pageSize: number }

/** Reads all pages of the block; undefined if a token is unusable or the block was replaced. */
async function followTokens(
  requestContext: RequestContext,
  spec: SizedBlockSpec,
): Promise<BlockPages | undefined> {
  const { partial, pageSize } = spec
  const pages: BlockPages[] = partial === undefined ? [] : [partial]
  let token = partial?.token
  const seenHashes = new Set<string>()
  let idle = 0
  const seenTokens = new Set([token])
  try {
    for (;;) {
      const page = await fetchPage(requestContext, spec, token)
      if (page === undefined) return undefined
      const [first] = pages
      if (first !== undefined && !haveSameBlockHash([first, page])) return undefined
      spec.size.recordSuccess()
      pages.push({ ...page, pages: 1 })
      const knownBefore = seenHashes.size
      for (const { hash } of page.keys) seenHashes.add(hash)
      idle = seenHashes.size > knownBefore ? 0 : idle + 1
      token = idle === MAX_IDLE_PAGES ? undefined : page.next
      if (idle === MAX_IDLE_PAGES) throw endlessListingError(`block ${spec.block}`)
      if (token === undefined) return joinPages(pages)
      if (seenTokens.has(token)) return undefined
      seenTokens.add(token)
    }
  } catch (thrown) {
    if (token !== undefined) await spec.onIncomplete?.({ ...joinPages(pages), token, pageSize })
    throw thrown
  }
}

/** Fetches one page; undefined if the service no longer accepts the token. */
async function fetchPage(
  requestContext: RequestContext,
  spec: SizedBlockSpec,
  token: string | undefined,
): Promise<Page | undefined> {
  const range = { from: spec.block, to: spec.block + 1 }
  const { chain } = spec
  const limits = { chain, range, cutoffMs: Number.POSITIVE_INFINITY, order: 'asc' } as const
  const response = request(requestContext, pageSpec(spec, token), (body) => readPage(body, limits, 'block'))
  return response.catch(ignoreRefusedToken(token))
}

type BlockPage = Pick<SizedBlockSpec, 'chain' | 'block' | 'pageSize'>

function pageSpec({ chain, block, pageSize }: BlockPage, token: string | undefined): RequestSpec {
  const query = queryOf({ pageSize, pageToken: token })
  return {
    method: 'GET',
    pathAndQuery: path`/v1/chains/${chain}/blocks/${block}/transactions` + query,
    description: `block ${block}`,
    isHandledByCaller: (error) => pageSize > MIN_PAGE_SIZE && isPageTooLarge(error),
  }
}

/**
 * Returns the times of the first transactions of a block. JSON of another shape is not requested again: the
 * service may not have this listing.
 */
export async function readBlockTimes(
  requestContext: RequestContext,
  { chain, block }: Pick<BlockSpec, 'chain' | 'block'>,
): Promise<BlockTime[]> {
  let isJson = false
  const spec = {
    ...pageSpec({ chain, block, pageSize: 1 }, undefined),
    isHandledByCaller: (error: ExportError) => isJson && isMalformed(error),
  }
  const { keys } = await request(requestContext, spec, (body) => {
    isJson = false
    const parsed = parseBody(body)
    isJson = true
    return itemsOf(parsed, { listing: 'block' })
  })
  return keys.filter((key) => typeof key !== 'string')
}

const isMalformed = ({ code }: ExportError) => code === 'PAGE_MALFORMED'

/** Whether the pages have the same block hash. Pages without a hash match any. */
function haveSameBlockHash(pages: readonly { body: Buffer }[]): boolean {
  return new Set(pages.flatMap(({ body }) => blockHashesIn(body))).size < 2
}

function blockHashesIn(body: Buffer): string[] {
  // Pages of an earlier run are joined by commas.
  const pages: unknown = JSON.parse(`[${body.toString('utf8')}]`)
  return (pages as { transactions: unknown[] }[]).flatMap(({ transactions }) =>
    transactions.flatMap((native) => {
      const { blockHash } = (native ?? {}) as { blockHash?: unknown }
      return typeof blockHash === 'string' ? [blockHash.toLowerCase()] : []
    }),
  )
}

function joinPages(pages: readonly BlockPages[]): BlockPages {
  const sum = (count: (page: BlockPages) => number) => pages.reduce((all, page) => all + count(page), 0)
  return {
    body: Buffer.concat(pages.flatMap(({ body }, at) => (at === 0 ? [body] : [COMMA, body]))),
    pages: sum(({ pages }) => pages),
    items: sum(({ items }) => items),
    bad: sum(({ bad }) => bad),
  }
}

const COMMA = Buffer.from(',')
