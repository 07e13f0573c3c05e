import { ExportError } from '../../core/errors.ts'
import { itemOfNative } from '../../core/item-key.ts'
import { PAGE_SIZE } from '../operations/call.ts'
import { path, queryOf } from '../operations/path.ts'
import { type Ask, type Requester, request } from '../request.ts'
import { type Page, readPage } from './page.ts'
import { refusedToken } from './refused-token.ts'

export type BlockAsk = {
  chain: string
  block: number
  /** The first pages of the block, where an earlier run has read them. */
  begun?: BegunBlock | undefined
  /** Called with the pages that are there when the reading ends before the last of them. */
  onStop?: (begun: BegunBlock) => Promise<void>
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
 * starts the block anew. Throws REQUEST_REFUSED with status 404 where the service does not have the block, and
 * PAGE_MALFORMED where a page holds a transaction of another block or its tokens lead nowhere.
 */
export async function readBlock(requester: Requester, ask: BlockAsk): Promise<BlockPages> {
  for (let starts = 0; starts < MOST_STARTS; starts += 1) {
    const pages = await followTokens(requester, starts === 0 ? ask : { ...ask, begun: undefined })
    if (pages !== undefined) return pages
  }
  throw new ExportError(
    'PAGE_MALFORMED',
    `block ${ask.block}: the service repeats or refuses its own page tokens`,
  )
}

const MOST_STARTS = 3

/** All pages of the block; undefined where a token led nowhere. */
async function followTokens(requester: Requester, ask: BlockAsk): Promise<BlockPages | undefined> {
  const pages: BlockPages[] = ask.begun === undefined ? [] : [ask.begun]
  let token = ask.begun?.token
  const asked = new Set([token])
  try {
    for (;;) {
      const page = await askPage(requester, ask, token)
      if (page === undefined) return undefined
      pages.push({ ...page, pages: 1 })
      token = page.next
      if (token === undefined) return joinPages(pages)
      if (asked.has(token)) return undefined
      asked.add(token)
    }
  } catch (thrown) {
    if (token !== undefined) await ask.onStop?.({ ...joinPages(pages), token })
    throw thrown
  }
}

/** One page; undefined where the service does not know the token any more. */
async function askPage(
  requester: Requester,
  ask: BlockAsk,
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

function pageAsk({ chain, block }: BlockAsk, token: string | undefined): Ask {
  const query = queryOf({ pageSize: PAGE_SIZE, pageToken: token })
  return {
    method: 'GET',
    pathAndQuery: path`/v1/chains/${chain}/blocks/${block}/transactions` + query,
    about: `block ${block}`,
  }
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
