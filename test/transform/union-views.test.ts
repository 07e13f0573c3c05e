import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unionViews, type WalletViews } from '../../src/transform/union-views.ts'
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

test('different entries of several wallets are united in order', () => {
  const entry = (logIndex: number) => erc20({ logIndex })
  const { rows } = flatten({
    [ALICE]: item({}, { erc20Transfers: [entry(9), entry(3)] }),
    [BOB]: item({}, { erc20Transfers: [entry(3), entry(5), entry(1)] }),
  })
  expect(rows.erc20_transfers.map(({ log_index }) => log_index)).toEqual([1, 3, 5, 9])
  expect(rows.transactions).toHaveLength(1)
  expect(rows.wallet_transactions.map(({ erc20_transfers }) => erc20_transfers)).toEqual([2, 3])
})

test('if views disagree, the lowest address wins in every field', () => {
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

test('internal entries are united by content, with the largest count', () => {
  const { rows } = flatten({ [ALICE]: item({}, valued(1, 2, 1)), [BOB]: item({}, valued(2, 1, 1, 1)) })
  expect(values(rows.internal_transactions)).toEqual([1, 2, 1, 1])
  const ids = rows.internal_transactions.map(({ internal_id }) => String(internal_id).slice(-2))
  expect(ids).toEqual(['-0', '-0', '-1', '-2'])
})

test('internal entries follow the order of the lowest address, then of the other views', () => {
  const { rows } = flatten({
    [ALICE]: item({}, valued(5, 1)),
    [BOB]: item({}, valued(1, 9, 5)),
    [CAROL]: item({}, valued(7, 9)),
  })
  expect(values(rows.internal_transactions)).toEqual([5, 1, 9, 7])
})

test('an entry that the view of the lowest address lacks comes from the next view', () => {
  const { rows, rejects } = flatten({
    [ALICE]: item({}, { erc20Transfers: [erc20({ value: 'broken' })] }),
    [BOB]: item({}, { erc20Transfers: [erc20({ value: '3' })] }),
  })
  expect(rows.erc20_transfers).toMatchObject([{ value: '3' }])
  expect(rejects).toHaveLength(1)
})

test('a rejected item does not affect the facts of the other views', () => {
  const { rows, rejects } = flatten({
    [ALICE]: item({ value: 'broken' }),
    [BOB]: item({ value: '3' }, valued(1)),
  })
  expect(rows.transactions).toMatchObject([{ value: '3' }])
  expect(rows.wallet_transactions).toMatchObject([{ wallet_address: BOB }])
  expect(rejects).toMatchObject([{ wallet: ALICE, list: null }])
})

const RUNS = { [ALICE]: 0, [BOB]: 1 }

test('if a later run describes an internal call differently, the later description wins', () => {
  const view = (change: Json) => item({}, { internalTransactions: [internal(change)] })
  for (const change of [{ gasUsed: '7' }, { internalTxType: 'UNKNOWN' }, { isReverted: true }]) {
    const { rows, isContradicted } = flatten({ [ALICE]: view({}), [BOB]: view(change) }, { runs: RUNS })
    const { rows: later } = flatten({ [ALICE]: view(change), [BOB]: view(change) })
    expect(rows.internal_transactions).toEqual(later.internal_transactions)
    expect(rows.ledger).toEqual(later.ledger)
    expect(isContradicted).toBe(true)
  }
})

test('if a later run has other fields of a transaction, the later fields win', () => {
  const views = { [ALICE]: item({ txStatus: '1', value: '5' }), [BOB]: item({ txStatus: '0', value: '5' }) }
  expect(flatten(views, { runs: RUNS }).rows.transactions).toMatchObject([{ success: false }])
  expect(flatten(views).rows.transactions).toMatchObject([{ success: true }])
  expect(flatten(views).isContradicted).toBe(true)
})

test.for([
  {
    what: 'another kind of call',
    method: { callType: 'NATIVE_TRANSFER', methodHash: '0xa9059cbb' },
    isContradicted: true,
  },
  {
    what: 'another method',
    method: { callType: 'CONTRACT_CALL', methodHash: '0x12345678' },
    isContradicted: true,
  },
  {
    what: 'the same call',
    method: { callType: 'CONTRACT_CALL', methodHash: '0xa9059cbb' },
    isContradicted: false,
  },
  { what: 'no call', method: undefined, isContradicted: false },
])('two views contradict each other if one states $what: $isContradicted', ({ method, isContradicted }) => {
  const call = { callType: 'CONTRACT_CALL', methodHash: '0xa9059cbb' }
  const views = { [ALICE]: item({ method: call }), [BOB]: item({ method }) }
  expect(flatten(views).isContradicted).toBe(isContradicted)
})

test('a field of the call that the preferred view omits comes from the view that states it', () => {
  const call = { method: { callType: 'CONTRACT_CALL', methodHash: '0xa9059cbb' } }
  const [stated, omitted] = [item(call), item({ method: undefined })]
  const fields = { call_type: 'CONTRACT_CALL', method_id: '0xa9059cbb' }
  expect(flatten({ [ALICE]: omitted, [BOB]: stated }).rows.transactions).toMatchObject([fields])
  expect(flatten({ [ALICE]: stated, [BOB]: omitted }, { runs: RUNS }).rows.transactions).toMatchObject([
    fields,
  ])
})

test('the index of a transaction and the hash of its block come from the views that state them', () => {
  const view = (prefix: object, isPartial: boolean) => ({
    native: { prefix: { block_number: 5, ...prefix }, row: { call_type: null, method_id: null }, isPartial },
    erc20: [],
    erc721: [],
    erc1155: [],
    internal: [],
    isComplete: true,
  })
  const views = [
    { wallet: ALICE, run: 0, view: view({ block_hash: '0xb', transaction_index: null }, false) },
    { wallet: BOB, run: 0, view: view({ block_hash: null, transaction_index: 7 }, true) },
  ]
  const { native } = unionViews(views as unknown as WalletViews)
  expect(native.prefix).toEqual({ block_number: 5, block_hash: '0xb', transaction_index: 7 })
})

const ONE_LOG = {
  erc20: item({}, { erc20Transfers: [erc20({ logIndex: 6, value: '77' })] }),
  erc721: item({}, { erc721Transfers: [erc721({ logIndex: 6 })] }),
  erc1155: item({}, { erc1155Transfers: [erc1155({ logIndex: 6 }), erc1155({ logIndex: 6 })] }),
}

test.for([
  ['erc20', 'erc721'],
  ['erc721', 'erc20'],
  ['erc20', 'erc1155'],
  ['erc1155', 'erc721'],
] as const)('a log that was read as %s and later as %s is one fact of the later type', ([before, after]) => {
  const views = { [ALICE]: ONE_LOG[before], [BOB]: ONE_LOG[after] }
  const { rows, isContradicted } = flatten(views, { runs: RUNS })
  const { rows: later } = flatten({ [ALICE]: ONE_LOG[after], [BOB]: ONE_LOG[after] })
  expect(rows).toEqual(later)
  expect(isContradicted).toBe(true)
})

test('if views of one run list a log in two tables, the table of the lowest address wins', () => {
  const { rows, isContradicted } = flatten({ [ALICE]: ONE_LOG.erc20, [BOB]: ONE_LOG.erc721 })
  expect([rows.erc20_transfers.length, rows.erc721_transfers.length]).toEqual([1, 0])
  expect(rows.wallet_transactions).toMatchObject([
    { erc20_transfers: 1, erc721_transfers: 0 },
    { erc20_transfers: 1, erc721_transfers: 0 },
  ])
  expect(isContradicted).toBe(true)
})

test('if a view lists a log as ERC-20 and as ERC-721, ERC-721 wins and the log counts as repeated', () => {
  const view = item(
    {},
    {
      erc20Transfers: [erc20({ logIndex: 6 }), erc20({ logIndex: 5 })],
      erc721Transfers: [erc721({ logIndex: 6 })],
    },
  )
  const { rows, repeatedLogs, isContradicted } = flatten({ [ALICE]: view })
  expect(rows.erc20_transfers.map(({ log_index }) => log_index)).toEqual([5])
  expect(rows.erc721_transfers).toHaveLength(1)
  expect(rows.ledger.map(({ source }) => source)).toEqual(['erc20_transfers', 'erc721_transfers'])
  expect(rows.wallet_transactions).toMatchObject([{ erc20_transfers: 1, erc721_transfers: 1 }])
  expect([repeatedLogs, isContradicted]).toEqual([1, false])
})

test('a repeated log of several views is counted once', () => {
  const listing = (...logs: number[]) =>
    item(
      {},
      {
        erc20Transfers: logs.map((logIndex) => erc20({ logIndex })),
        erc721Transfers: logs.map((logIndex) => erc721({ logIndex })),
      },
    )
  expect(flatten({ [ALICE]: listing(6), [BOB]: listing(6) }).repeatedLogs).toBe(1)
  expect(flatten({ [ALICE]: listing(5, 6), [BOB]: listing(6, 7) }).repeatedLogs).toBe(3)
})

test('if a later run has another token, value or party of a log, the later one wins', () => {
  for (const change of [erc20({ value: '3' }), erc20({}, { address: CAROL }), erc20({ to: party(CAROL) })]) {
    const views = {
      [ALICE]: item({}, { erc20Transfers: [erc20()] }),
      [BOB]: item({}, { erc20Transfers: [change] }),
    }
    const { rows, isContradicted } = flatten(views, { runs: RUNS })
    expect(rows.erc20_transfers).toEqual(flatten({ [BOB]: views[BOB] }).rows.erc20_transfers)
    expect(isContradicted).toBe(true)
  }
})

test('if a later run has fewer entries of an ERC-1155 batch, only those remain', () => {
  const views = {
    [ALICE]: item({}, { erc1155Transfers: [erc1155(), erc1155(), erc1155()] }),
    [BOB]: item({}, { erc1155Transfers: [erc1155()] }),
  }
  const { rows } = flatten(views, { runs: RUNS })
  expect(rows.erc1155_transfers).toHaveLength(1)
  expect(rows.wallet_transactions).toMatchObject([{ erc1155_transfers: 1 }, { erc1155_transfers: 1 }])
})

test('an entry that is missing from the view of one of its parties is a contradiction', () => {
  const lists = [
    { erc20Transfers: [erc20()] },
    { erc721Transfers: [erc721()] },
    { erc1155Transfers: [erc1155()] },
    { internalTransactions: [internal()] },
    { internalTransactions: [internal(), internal()] },
  ]
  const less = { internalTransactions: [internal()] }
  for (const list of lists) {
    const lacking = list === lists[4] ? less : {}
    expect(flatten({ [ALICE]: item({}, list), [BOB]: item({}, lacking) }).isContradicted).toBe(true)
    expect(flatten({ [ALICE]: item({}, lacking), [BOB]: item({}, list) }).isContradicted).toBe(true)
    expect(flatten({ [ALICE]: item({}, list), [CAROL]: item({}, {}) }).isContradicted).toBe(false)
  }
})

test('names, prices, metadata, the order of calls and rejected entries are no contradiction', () => {
  const views = (change: (list: Json) => Json) => ({
    [ALICE]: item(
      {},
      {
        erc20Transfers: [erc20()],
        internalTransactions: [internal({ gasUsed: '1' }), internal({ gasUsed: '2' })],
      },
    ),
    [BOB]: item(
      { from: party(ALICE, 'name') },
      change({
        erc20Transfers: [erc20({}, { name: 'x', decimals: 8, price: { currencyCode: 'usd', value: '1' } })],
        internalTransactions: [internal({ gasUsed: '2' }), internal({ gasUsed: '1' })],
      }),
    ),
  })
  expect(flatten(views((lists) => lists)).isContradicted).toBe(false)
  const broken = views((lists) => ({ ...lists, erc20Transfers: [erc20({ value: 'broken' })] }))
  expect(flatten(broken).isContradicted).toBe(false)
})

const WALLETS = [ALICE, BOB, CAROL]
const anyAddress = fc.constantFrom(...WALLETS, `0x${'d'.repeat(40)}`, `0x${'e'.repeat(40)}`)
const sides = fc.record({ from: anyAddress.map((at) => party(at)), to: anyAddress.map((at) => party(at)) })

/** Arbitrary complete transactions, independent of any view. */
const fullTransactions = fc
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

test('the union of partial views equals one full view', () => {
  fc.assert(
    fc.property(fullTransactions, fc.subarray(WALLETS, { minLength: 1 }), ({ outer, lists }, requested) => {
      const views = requested.map((wallet) => [wallet, item(outer, seenBy([wallet], lists))])
      const parts = flatten(Object.fromEntries(views)).rows
      const wallets = new Map(requested.map((wallet) => [wallet, null]))
      const full = flatten({ [requested[0] ?? '']: item(outer, seenBy(requested, lists)) }, { wallets }).rows
      expect(parts.erc20_transfers).toEqual(full.erc20_transfers)
      expect(parts.erc1155_transfers).toEqual(full.erc1155_transfers)
      expect(byId(parts.internal_transactions, 'internal_id')).toEqual(
        byId(full.internal_transactions, 'internal_id'),
      )
      expect(byId(parts.ledger, 'entry_id')).toEqual(byId(full.ledger, 'entry_id'))
    }),
  )
})

/** Sorts rows by id and omits `entry_index`, which depends on the order of the listing. */
function byId(rows: Json[], id: string): Json[] {
  const withoutIndex = rows.map(({ entry_index: _, ...row }) => row as Json)
  return withoutIndex.sort((a, b) => (String(a[id]) < String(b[id]) ? -1 : 1))
}

test('if all parties are wallets of the job, the ledger values sum to the fee', () => {
  fc.assert(
    fc.property(fullTransactions, ({ outer, lists }) => {
      const allAddresses = [...WALLETS, `0x${'d'.repeat(40)}`, `0x${'e'.repeat(40)}`]
      const views = allAddresses.map((wallet) => [wallet, item(outer, seenBy([wallet], lists))])
      const { ledger } = flatten(Object.fromEntries(views)).rows
      expect(ledger.reduce((sum, { value }) => sum + BigInt(String(value)), 0n)).toBe(-6n)
      expect(new Set(ledger.map(({ entry_id }) => entry_id)).size).toBe(ledger.length)
    }),
  )
})
