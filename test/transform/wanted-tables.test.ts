import { expect, test } from 'vitest'
import { DEFAULT_TABLES, TABLE_NAMES, type TableName } from '../../src/core/table/index.ts'
import { dataApi } from '../../src/sources/data-api/data-api.ts'
import { flattenTransaction } from '../../src/transform/flatten-transaction.ts'
import { ALICE, BOB, erc20, erc721, erc1155, flatten, HASH, internal, item } from './items.ts'

/** A transaction with rows in every table. */
const BUSY = item(
  { value: '5' },
  {
    erc20Transfers: [erc20()],
    erc721Transfers: [erc721()],
    erc1155Transfers: [erc1155()],
    internalTransactions: [internal()],
  },
)
const all = flatten({ [ALICE]: BUSY, [BOB]: BUSY }).rows

test('a transaction can have rows in every table', () => {
  expect(Object.keys(all).sort()).toEqual([...TABLE_NAMES].sort())
  for (const name of DEFAULT_TABLES) expect(all[name]).not.toEqual([])
})

test.for(TABLE_NAMES)('if only %s is requested, the other tables stay empty', (table) => {
  const { rows } = flatten({ [ALICE]: BUSY, [BOB]: BUSY }, { tables: new Set([table]) })
  for (const name of TABLE_NAMES) expect(rows[name]).toEqual(name === table ? all[name] : [])
})

test('records are rejected even if their table is not requested', () => {
  const broken = item({}, { erc20Transfers: [erc20({ value: 'many' })] })
  const rejects = (tables: TableName[]) =>
    flatten({ [ALICE]: broken }, { tables: new Set(tables) }).rejects.map(({ list }) => list)
  expect(rejects(['transactions'])).toEqual(['erc20Transfers'])
  expect(rejects(['erc20_transfers'])).toEqual(['erc20Transfers'])
})

test('`seenBy` lists only the wallets whose view can be normalized', () => {
  const views = [BUSY, item({ value: 'broken' }), BUSY].map((of, at) => {
    return { wallet: `0x${at}`, key: { hash: HASH }, item: of }
  })
  const fees = { from: 'listing' } as const
  const context = {
    source: dataApi,
    chain: '43114',
    nativeSymbol: null,
    wallets: new Map(),
    fees,
    onReject: () => {},
    wrappedCoinOf: () => undefined,
  }
  const seenBy = (tables: TableName[]) =>
    flattenTransaction(views, { ...context, tables: new Set(tables) })?.seenBy
  expect(seenBy(['wallet_transactions'])).toEqual(['0x0', '0x2'])
  expect(seenBy(['ledger'])).toEqual(['0x0', '0x2'])
})
