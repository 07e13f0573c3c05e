import { ExportError } from '../../../core/model/errors.ts'
import { type Ask, type Requester, request } from '../../../http/request.ts'
import { PAGE_SIZE } from '../operations/call.ts'
import { path, queryOf } from '../operations/path.ts'
import { itemOfNative } from '../parse-item-key.ts'
import {
  createPageSize,
  isTooHeavy,
  type PageSize,
  SMALLEST_PAGE,
  shrinkPages,
} from './adaptive-page-size.ts'
import { endlessListing, IDLE_PAGES } from './endless-listing.ts'
import { refusedToken } from './ignore-refused-token.ts'
import { type Page, readPage } from './page.ts'

export type BlockAsk = {
  chain: string
  block: number
  /** The first pages of the block, where an earlier run has read them. */
  begun?: BegunBlock | undefined
  /** Called with the pages that are there when the reading ends before the last of them. */
  onStop?: (begun: BegunBlock) => Promise<void>
  /** Transactions a page, which all blocks of a job share. @default one of its own */
  size?: PageSize
}

/** Pages of one block's listing. */
type BlockPages = {
  /** The pages as they were received, JSON, with a comma between. */
  body: Buffer
  pages: number
  items: number
  /** Items that have no place in the chain. */
  bad: number
}

/** The first pages of a block, and the token of the next. */
export type BegunBlock = BlockPages & { token: string }

/**
 * Reads all pages of one block's listing (interface section 4.1). A page token that is refused, repeated or forgotten
 * starts the block anew, and so does a page with another block hash than the one before: the block was replaced. Where a page
 * is too much for the service, the block is requested in smaller pages. Throws REQUEST_REFUSED with status 404 where the
 * service does not have the block, and PAGE_MALFORMED where a page holds a transaction of another block or its tokens lead
 * nowhere.
 */
export async function readBlock(requester: Requester, ask: BlockAsk): Promise<BlockPages> {
  const { size = createPageSize() } = ask
  let { begun } = ask
  for (let starts = 0; starts < MOST_STARTS; ) {
    const pageSize = size.current()
    try {
      const pages = await followTokens(requester, { ...ask, size, pageSize, begun })
      if (pages !== undefined) return pages
      starts += 1
    } catch (thrown) {
      shrinkPages(requester, { size, pageSize, thrown })
    }
    begun = undefined
  }
  throw new ExportError(
    'PAGE_MALFORMED',
    `block ${ask.block}: the service repeats or refuses its own page tokens`,
  )
}

const MOST_STARTS = 3

type SizedAsk = BlockAsk & { size: PageSize; pageSize: number }

/** All pages of the block; undefined where a token led nowhere, or the block was replaced. */
async function followTokens(requester: Requester, ask: SizedAsk): Promise<BlockPages | undefined> {
  // The token of an earlier run may count pages of the usual size.
  const isUsual = ask.pageSize === PAGE_SIZE
  const pages: BlockPages[] = ask.begun === undefined || !isUsual ? [] : [ask.begun]
  let token = pages.length === 0 ? undefined : ask.begun?.token
  const shown = new Set<string>()
  let idle = 0
  const asked = new Set([token])
  try {
    for (;;) {
      const page = await askPage(requester, ask, token)
      if (page === undefined) return undefined
      const [first] = pages
      if (first !== undefined && !isOneBlock([first, page])) return undefined
      ask.size.succeed()
      pages.push({ ...page, pages: 1 })
      const known = shown.size
      for (const { hash } of page.keys) shown.add(hash)
      idle = shown.size > known ? 0 : idle + 1
      token = idle === IDLE_PAGES ? undefined : page.next
      if (idle === IDLE_PAGES) throw endlessListing(`block ${ask.block}`)
      if (token === undefined) return joinPages(pages)
      if (asked.has(token)) return undefined
      asked.add(token)
    }
  } catch (thrown) {
    if (token !== undefined && isUsual) await ask.onStop?.({ ...joinPages(pages), token })
    throw thrown
  }
}

/** One page; undefined where the service does not know the token any more. */
async function askPage(
  requester: Requester,
  ask: SizedAsk,
  token: string | undefined,
): Promise<Page | undefined> {
  const range = { from: ask.block, to: ask.block + 1 }
  const { chain } = ask
  const limits = {
    chain,
    range,
    cutMs: Number.POSITIVE_INFINITY,
    order: 'asc',
    toItem: itemOfNative,
  } as const
  const asking = request(requester, pageAsk(ask, token), (body) => readPage(body, limits))
  return asking.catch(refusedToken(token))
}

function pageAsk({ chain, block, pageSize }: SizedAsk, token: string | undefined): Ask {
  const query = queryOf({ pageSize, pageToken: token })
  return {
    method: 'GET',
    pathAndQuery: path`/v1/chains/${chain}/blocks/${block}/transactions` + query,
    about: `block ${block}`,
    handles: (error) => pageSize > SMALLEST_PAGE && isTooHeavy(error),
  }
}

/** Whether pages name one block hash; what names none fits any. */
function isOneBlock(pages: readonly { body: Buffer }[]): boolean {
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
  const sum = (count: (of: BlockPages) => number) => pages.reduce((all, of) => all + count(of), 0)
  return {
    body: Buffer.concat(pages.flatMap(({ body }, at) => (at === 0 ? [body] : [COMMA, body]))),
    pages: sum(({ pages }) => pages),
    items: sum(({ items }) => items),
    bad: sum(({ bad }) => bad),
  }
}

const COMMA = Buffer.from(',')
