// An independent implementation of the listings, written from sections 4.1 and 4.3 of INTERFACE.md. It deliberately
// shares no code with the program.

export type Json = Record<string, unknown>
/** A whole transaction with all entries, which may be malformed. Each wallet's listing contains only its own entries. */
export type ListedItem = { nativeTransaction: Json } & Json

/** Encodes the offset of a page in its token. */
export type PageTokenCodec = { write: (offset: number) => string; read: (token: string) => number }

const PLAIN_OFFSETS: PageTokenCodec = { write: String, read: Number }

/** Page tokens from which the offset cannot be read. */
export const opaqueTokens: PageTokenCodec = {
  write: (offset) => (offset * 7 + 1).toString(36).padStart(8, 'z'),
  read: (token) => (Number.parseInt(token.replace(/^z+/, ''), 36) - 1) / 7,
}

/** The page of a listing over these items: of a block, or of a wallet with a range of blocks. */
export function listingPage(
  items: readonly ListedItem[],
  { pathname, searchParams: query }: URL,
  tokens = PLAIN_OFFSETS,
) {
  const [, , , , kind, name = ''] = pathname.split('/')
  if (kind === 'blocks') {
    const inBlock = items.filter((item) => blockOf(item) === Number(name))
    return { transactions: inBlock.map(({ nativeTransaction }) => nativeTransaction) }
  }
  const [from, to] = [Number(query.get('startBlock')), Number(query.get('endBlock'))]
  const wallet = name.toLowerCase()
  const listed = items
    .filter((item) => blockOf(item) >= from && blockOf(item) < to && isParty(item, wallet))
    .sort((a, b) => blockOf(a) - blockOf(b))
  if (query.get('sortOrder') === 'desc') listed.reverse()
  const token = query.get('pageToken')
  const start = token === null ? 0 : tokens.read(token)
  const end = start + Number(query.get('pageSize'))
  const transactions = listed.slice(start, end).map((item) => viewOf(item, wallet))
  return { nextPageToken: end < listed.length ? tokens.write(end) : '', transactions }
}

const LISTS = ['erc20Transfers', 'erc721Transfers', 'erc1155Transfers', 'internalTransactions']

const blockOf = ({ nativeTransaction }: ListedItem) => Number(nativeTransaction.blockNumber)

const involves = (entry: unknown, address: string) =>
  [(entry as Json | null)?.from, (entry as Json | null)?.to].some(
    (party) => String((party as Json | undefined)?.address).toLowerCase() === address,
  )

const entriesOf = (item: ListedItem, list: string) =>
  Array.isArray(item[list]) ? (item[list] as unknown[]) : []

const isParty = (item: ListedItem, address: string) =>
  involves(item.nativeTransaction, address) ||
  LISTS.some((list) => entriesOf(item, list).some((entry) => involves(entry, address)))

function viewOf(item: ListedItem, address: string): ListedItem {
  const lists = LISTS.filter((list) => Array.isArray(item[list])).map((list) => [
    list,
    entriesOf(item, list).filter((entry) => involves(entry, address)),
  ])
  return { ...item, ...Object.fromEntries(lists) }
}
