import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  ALICE,
  BOB,
  CAROL,
  erc20,
  erc721,
  erc1155,
  flatten,
  internal,
  item,
  type Json,
  party,
} from './items.ts'

test('wallets that see different entries give their union in order', () => {
  const entry = (logIndex: number) => erc20({ logIndex })
  const { rows } = flatten({
    [ALICE]: item({}, { erc20Transfers: [entry(9), entry(3)] }),
    [BOB]: item({}, { erc20Transfers: [entry(3), entry(5), entry(1)] }),
  })
  expect(rows.erc20_transfers.map(({ log_index }) => log_index)).toEqual([1, 3, 5, 9])
  expect(rows.transactions).toHaveLength(1)
  expect(rows.wallet_transactions.map(({ erc20_transfers }) => erc20_transfers)).toEqual([2, 3])
})

test('where views disagree the lowest address wins every field', () => {
  const view = (name: string) =>
    item(
      { from: party(ALICE, name) },
      {
        erc20Transfers: [erc20({}, { name })],
        erc721Transfers: [erc721({}, { name })],
        erc1155Transfers: [erc1155({}, { tokenUri: name })],
        internalTransactions: [internal({ from: party(ALICE, name) })],
      },
    )
  const { rows } = flatten({ [ALICE]: view('low'), [BOB]: view('middle'), [CAROL]: view('high') })
  expect(rows.transactions).toMatchObject([{ from_name: 'low' }])
  expect(rows.erc20_transfers).toMatchObject([{ token_name: 'low' }])
  expect(rows.erc721_transfers).toMatchObject([{ token_name: 'low' }])
  expect(rows.erc1155_transfers).toMatchObject([{ token_uri: 'low' }])
  expect(rows.internal_transactions).toMatchObject([{ from_name: 'low' }])
})

const valued = (...values: number[]) => ({
  internalTransactions: values.map((value) => internal({ value: String(value) })),
})
const values = (rows: Json[]) => rows.map(({ value }) => Number(value))

test('internal entries unite by content and the largest count', () => {
  const { rows } = flatten({ [ALICE]: item({}, valued(1, 2, 1)), [BOB]: item({}, valued(2, 1, 1, 1)) })
  expect(values(rows.internal_transactions)).toEqual([1, 2, 1, 1])
  const ids = rows.internal_transactions.map(({ internal_id }) => String(internal_id).slice(-2))
  expect(ids).toEqual(['-0', '-0', '-1', '-2'])
})

test('internal entries follow the lowest view, then the further ones', () => {
  const { rows } = flatten({
    [ALICE]: item({}, valued(5, 1)),
    [BOB]: item({}, valued(1, 9, 5)),
    [CAROL]: item({}, valued(7, 9)),
  })
  expect(values(rows.internal_transactions)).toEqual([5, 1, 9, 7])
})

test('an entry that the lowest view lacks comes from the next', () => {
  const { rows, rejects } = flatten({
    [ALICE]: item({}, { erc20Transfers: [erc20({ value: 'broken' })] }),
    [BOB]: item({}, { erc20Transfers: [erc20({ value: '3' })] }),
  })
  expect(rows.erc20_transfers).toMatchObject([{ value: '3' }])
  expect(rejects).toHaveLength(1)
})

test('a rejected item leaves the facts of the other views', () => {
  const { rows, rejects } = flatten({
    [ALICE]: item({ value: 'broken' }),
    [BOB]: item({ value: '3' }, valued(1)),
  })
  expect(rows.transactions).toMatchObject([{ value: '3' }])
  expect(rows.wallet_transactions).toMatchObject([{ wallet_address: BOB }])
  expect(rejects).toMatchObject([{ wallet: ALICE, list: null }])
})

const WALLETS = [ALICE, BOB, CAROL]
const someone = fc.constantFrom(...WALLETS, `0x${'d'.repeat(40)}`, `0x${'e'.repeat(40)}`)
const sides = fc.record({ from: someone.map((at) => party(at)), to: someone.map((at) => party(at)) })

/** Everything that a transaction holds on its chain, whoever looks. */
const wholes = fc
  .record({
    erc20: fc.array(sides, { maxLength: 5 }),
    batches: fc.array(fc.tuple(sides, fc.integer({ min: 1, max: 4 })), { maxLength: 3 }),
    internal: fc.array(fc.tuple(sides, fc.integer({ min: 0, max: 2 })), { maxLength: 8 }),
    outer: sides,
  })
  .map(({ erc20: transfers, batches, internal: calls, outer }) => ({
    outer: { ...outer, value: '5', gasUsed: '2', gasPrice: '3' },
    lists: {
      erc20Transfers: transfers.map((at, logIndex) => erc20({ ...at, logIndex })),
      erc1155Transfers: batches.flatMap(([at, length], batch) =>
        Array.from({ length }, () => erc1155({ ...at, logIndex: 100 + batch })),
      ),
      internalTransactions: calls.map(([at, value]) => internal({ ...at, value: String(value) })),
    },
  }))

type Entry = { from: { address: string }; to: { address: string } }
const touches = (wallets: readonly string[]) => (entry: unknown) =>
  wallets.includes((entry as Entry).from.address) || wallets.includes((entry as Entry).to.address)

const seenBy = (wallets: readonly string[], lists: Record<string, Json[]>) =>
  Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.filter(touches(wallets))]))

test('partial views unite to what one full view would hold', () => {
  fc.assert(
    fc.property(wholes, fc.subarray(WALLETS, { minLength: 1 }), ({ outer, lists }, asked) => {
      const views = asked.map((wallet) => [wallet, item(outer, seenBy([wallet], lists))])
      const parts = flatten(Object.fromEntries(views)).rows
      const wallets = new Map(asked.map((wallet) => [wallet, null]))
      const full = flatten({ [asked[0] ?? '']: item(outer, seenBy(asked, lists)) }, { wallets }).rows
      expect(parts.erc20_transfers).toEqual(full.erc20_transfers)
      expect(parts.erc1155_transfers).toEqual(full.erc1155_transfers)
      expect(byId(parts.internal_transactions, 'internal_id')).toEqual(
        byId(full.internal_transactions, 'internal_id'),
      )
      expect(byId(parts.ledger, 'entry_id')).toEqual(byId(full.ledger, 'entry_id'))
    }),
  )
})

/** By id, without the position that the order of listing gives. */
function byId(rows: Json[], id: string): Json[] {
  const kept = rows.map(({ entry_index: _, ...row }) => row as Json)
  return kept.sort((a, b) => (String(a[id]) < String(b[id]) ? -1 : 1))
}

test('ledger values of wallets inside one circle sum to the fee', () => {
  fc.assert(
    fc.property(wholes, ({ outer, lists }) => {
      const everybody = [...WALLETS, `0x${'d'.repeat(40)}`, `0x${'e'.repeat(40)}`]
      const views = everybody.map((wallet) => [wallet, item(outer, seenBy([wallet], lists))])
      const { ledger } = flatten(Object.fromEntries(views)).rows
      expect(ledger.reduce((sum, { value }) => sum + BigInt(String(value)), 0n)).toBe(-6n)
      expect(new Set(ledger.map(({ entry_id }) => entry_id)).size).toBe(ledger.length)
    }),
  )
})
