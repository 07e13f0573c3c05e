import { wrappedCoinOf } from '../../src/core/model/chains.ts'
import { parseBytes, toText } from '../../src/core/platform/byte-text.ts'
import { type Cell, TABLE_NAMES, type TableName, tableByName } from '../../src/core/table/index.ts'
import { dataApi } from '../../src/sources/data-api/data-api.ts'
import { keyOfItem } from '../../src/sources/data-api/parse-item-key.ts'
import {
  type FlattenContext,
  flattenTransaction,
  type Reject,
} from '../../src/transform/flatten-transaction.ts'

export const ALICE = `0x${'a'.repeat(40)}`
export const BOB = `0x${'b'.repeat(40)}`
export const CAROL = `0x${'c'.repeat(40)}`
export const TOKEN = `0x${'7'.repeat(40)}`
export const ZERO = `0x${'0'.repeat(40)}`
export const HASH = `0x${'1f'.repeat(32)}`
const BLOCK_HASH = `0x${'b1'.repeat(32)}`

export type Json = Record<string, unknown>
export type Item = { nativeTransaction: Json } & Json

export const party = (address: string, name?: string): Json => ({ address, ...(name ? { name } : {}) })

/** A transaction from ALICE to BOB without value. `changes` replace its fields. */
function native(changes: Json = {}): Json {
  return {
    blockNumber: '100',
    blockTimestamp: 1_700_000_000,
    blockHash: BLOCK_HASH,
    chainId: '43114',
    blockIndex: 3,
    txHash: HASH,
    txStatus: '1',
    txType: 2,
    from: party(ALICE),
    to: party(BOB),
    value: '0',
    ...changes,
  }
}

export function item(changes: Json = {}, lists: Json = {}): Item {
  return { nativeTransaction: native(changes), ...lists }
}

export function erc20(changes: Json = {}, token: Json = {}): Json {
  const erc20Token = { address: TOKEN, symbol: 'TKN', decimals: 6, ...token }
  return { from: party(ALICE), to: party(BOB), logIndex: 5, value: '2500000', erc20Token, ...changes }
}

export function erc721(changes: Json = {}, token: Json = {}): Json {
  const erc721Token = { address: TOKEN, symbol: 'ART', tokenId: '77', ...token }
  return { from: party(ALICE), to: party(BOB), logIndex: 6, erc721Token, ...changes }
}

export function erc1155(changes: Json = {}, token: Json = {}): Json {
  const erc1155Token = { address: TOKEN, tokenId: '9', ...token }
  return { from: party(ALICE), to: party(BOB), logIndex: 7, value: '4', erc1155Token, ...changes }
}

export function internal(changes: Json = {}): Json {
  return {
    from: party(ALICE),
    to: party(BOB),
    internalTxType: 'CALL',
    value: '10',
    isReverted: false,
    gasUsed: '21000',
    gasLimit: '30000',
    ...changes,
  }
}

type Flattened = {
  rows: Record<TableName, Json[]>
  rejects: Reject[]
  isContradicted: boolean | undefined
  repeatedLogs: number | undefined
}

type FlattenOptions = Partial<FlattenContext> & {
  /** By wallet, the number of the run that read its view. @default 0 */
  runs?: Record<string, number>
}

/** Flattens one item per wallet, in the order of the keys, into rows by column name. */
export function flatten(
  views: Record<string, unknown>,
  { runs = {}, ...options }: FlattenOptions = {},
): Flattened {
  const rejects: Reject[] = []
  const wallets = new Map(Object.keys(views).map((wallet) => [wallet, null]))
  const context = {
    source: dataApi,
    chain: '43114',
    nativeSymbol: 'AVAX',
    wrappedCoinOf: (chain: string) => wrappedCoinOf({ chain }),
    tables: new Set(TABLE_NAMES),
    wallets,
    fees: { from: 'listing' } as const,
    onReject: (it: Reject) => rejects.push(it),
  }
  const items = Object.entries(views).map(([wallet, of]) => {
    const item = parseBytes(Buffer.from(JSON.stringify(of)))
    return { wallet, key: { hash: hashOf(item) }, item, run: runs[wallet] }
  })
  const flat = flattenTransaction(items, { ...context, ...options })
  const rows = Object.fromEntries(
    Object.entries(flat?.rows ?? {}).map(([table, list]) => [
      table,
      list.map((cells) => inText(table, { ...flat?.prefix, ...cells })),
    ]),
  ) as Record<TableName, Json[]>
  return { rows, rejects, isContradicted: flat?.isContradicted, repeatedLogs: flat?.repeatedLogs }
}

function hashOf(of: unknown): string {
  const key = keyOfItem(of)
  return typeof key === 'string' ? '' : key.hash
}

/** Decodes the cells of a row from `ByteText`. */
function inText(table: string, cells: Record<string, Cell>): Record<string, Cell> {
  const { columns } = tableByName(table as TableName)
  const [actual, declared] = [Object.keys(cells).sort(), columns.map(({ name }) => name).sort()]
  if (actual.join() !== declared.join()) throw new Error(`${table} has the cells ${actual.join()}`)
  const decoded = Object.entries(cells).map(([name, cell]) => [
    name,
    typeof cell === 'string' ? toText(cell) : cell,
  ])
  return Object.fromEntries(decoded)
}
