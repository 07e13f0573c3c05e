import { expect, test } from 'vitest'
import { ALICE, erc20, erc721, erc1155, flatten, HASH, internal, item, type Json } from './items.ts'

const INT32_OVER = [2 ** 31, -(2 ** 31) - 1, '2147483648', 1.5, '1.5', 'abc', true, [], {}, ' 1']
const U256_OVER = [String(2n ** 256n), '-1', -1, 1e21, '1e3', '1.0', 'abc', '9'.repeat(201), true, {}]
const NO_LIST = [5, 'x', {}, true]
const NO_OBJECT = [5, 'x', [], true]
const ABSENT = [undefined, null, '']
const NO_TIME = ['x', -1, 1.5, 253_402_300_800_000, true, {}]

const spread = (field: string, values: readonly unknown[]) => values.map((value) => ({ field, value }))

test.for([
  ...spread('value', [...U256_OVER, ...ABSENT]),
  ...spread('blockHash', [...ABSENT, 5, {}]),
  ...spread('from', NO_OBJECT),
  ...spread('to', NO_OBJECT),
])('a transaction with $field $value is rejected completely', ({ field, value }) => {
  const broken = item({ [field]: value })
  const { rows, rejects } = flatten({ [ALICE]: broken })
  expect(rows).toEqual({})
  expect(rejects).toEqual([
    { wallet: ALICE, transactionHash: HASH, list: null, record: broken, reason: expect.any(String) },
  ])
  expect(rejects[0]?.reason).toMatch(new RegExp(`^${field} is not `))
})

test.for([
  ...spread('blockNumber', [...ABSENT, 'x', -1, 1.5, '9007199254740993', true]),
  ...spread('blockIndex', [...ABSENT, 'x', -1, 2 ** 31, 1.5]),
  ...spread('txHash', [...ABSENT, 5]),
  ...spread('blockTimestamp', [...ABSENT, ...NO_TIME.filter((value) => value !== 253_402_300_800_000)]),
])('a transaction without a valid position ($field $value) is rejected completely', ({ field, value }) => {
  const { rows, rejects } = flatten({ [ALICE]: item({ [field]: value }) })
  expect(rows).toEqual({})
  expect(rejects).toMatchObject([{ list: null, reason: expect.stringMatching(/ is (not|missing)/) }])
})

test.for([0, 1, 1_438_269_972])(
  'a transaction of second %i, before any chain, is rejected',
  (blockTimestamp) => {
    const broken = item({ blockTimestamp, blockTimestampMilliseconds: undefined })
    const { rows, rejects } = flatten({ [ALICE]: broken })
    expect(rows).toEqual({})
    expect(rejects).toMatchObject([{ list: null, reason: expect.stringContaining('before the first block') }])
    expect(flatten({ [ALICE]: item({ blockTimestamp: 1_438_269_973 }) }).rejects).toEqual([])
  },
)

test.for(spread('from', [5, {}, [], true]))('a party whose address is $value is rejected', ({ value }) => {
  const { rows, rejects } = flatten({ [ALICE]: item({ from: { address: value } }) })
  expect(rows).toEqual({})
  expect(rejects).toMatchObject([{ list: null, reason: expect.stringMatching(/^address is not text: /) }])
})

test.for(
  ['erc20Transfers', 'erc721Transfers', 'erc1155Transfers', 'internalTransactions'].flatMap((field) =>
    spread(field, NO_LIST),
  ),
)('if $field is $value, only that list is rejected', ({ field, value }) => {
  const other = field === 'erc20Transfers' ? { erc721Transfers: [erc721()] } : { erc20Transfers: [erc20()] }
  const { rows, rejects } = flatten({ [ALICE]: item({ value: '5' }, { ...other, [field]: value }) })
  expect(rows.transactions).toMatchObject([{ value: '5' }])
  expect([...rows.erc20_transfers, ...rows.erc721_transfers]).toHaveLength(1)
  expect(rejects).toEqual([
    {
      wallet: ALICE,
      transactionHash: HASH,
      list: field,
      record: value,
      reason: expect.stringContaining(`${field} is not a list`),
    },
  ])
})

/** Each list with its fact table and a function that creates an entry with changed fields. */
const LISTS = {
  erc20Transfers: { table: 'erc20_transfers', make: erc20 },
  erc721Transfers: { table: 'erc721_transfers', make: erc721 },
  erc1155Transfers: { table: 'erc1155_transfers', make: erc1155 },
  internalTransactions: { table: 'internal_transactions', make: internal },
} as const

type ListName = keyof typeof LISTS
type Broken = { list: ListName; part: 'entry' | 'token' | 'metadata'; field: string; value: unknown }

const cases = (list: ListName, part: Broken['part'], fields: Record<string, readonly unknown[]>): Broken[] =>
  Object.entries(fields).flatMap(([field, values]) => values.map((value) => ({ list, part, field, value })))

function entryOf({ list, part, field, value }: Broken): Json {
  const changes = { [field]: value }
  const { make } = LISTS[list]
  if (part === 'entry') return make(changes)
  return make({}, part === 'token' ? changes : { metadata: changes })
}

const BOUND = { logIndex: [...INT32_OVER, ...ABSENT], from: NO_OBJECT, to: NO_OBJECT }

test.for([
  ...cases('erc20Transfers', 'entry', { ...BOUND, value: [...U256_OVER, ...ABSENT] }),
  ...cases('erc20Transfers', 'token', { address: [...ABSENT, 5] }),
  ...cases('erc721Transfers', 'entry', BOUND),
  ...cases('erc721Transfers', 'token', {
    address: ABSENT,
    tokenId: [...U256_OVER, ...ABSENT],
  }),
  ...cases('erc1155Transfers', 'entry', { ...BOUND, value: [...U256_OVER, ...ABSENT] }),
  ...cases('erc1155Transfers', 'token', { address: ABSENT, tokenId: [...U256_OVER, ...ABSENT] }),
  ...cases('internalTransactions', 'entry', {
    from: NO_OBJECT,
    value: [...U256_OVER, ...ABSENT],
  }),
])('an entry of $list with $field $value ($part) is rejected alone', (broken) => {
  const { table, make } = LISTS[broken.list]
  const record = entryOf(broken)
  const good = make(broken.list === 'internalTransactions' ? {} : { logIndex: 99 })
  const { rows, rejects } = flatten({ [ALICE]: item({}, { [broken.list]: [record, good] }) })
  expect(rows[table]).toHaveLength(1)
  expect(rejects).toEqual([
    { wallet: ALICE, transactionHash: HASH, list: broken.list, record, reason: expect.any(String) },
  ])
  expect(rejects[0]?.reason).toMatch(new RegExp(`^${broken.field} is not `))
})

test.for([null, 5, 'x'])('rejects an entry that is %j', (record) => {
  const { rows, rejects } = flatten({ [ALICE]: item({}, { erc20Transfers: [record, erc20()] }) })
  expect(rows.erc20_transfers).toHaveLength(1)
  expect(rejects).toMatchObject([{ list: 'erc20Transfers', record, reason: 'it is not an object' }])
})

test.for(ABSENT)('optional fields that are %j become null', (nothing) => {
  const of = (...fields: string[]) => Object.fromEntries(fields.map((field) => [field, nothing]))
  const listed = {
    erc20Transfers: [erc20({}, of('name', 'symbol', 'decimals'))],
    erc721Transfers: [erc721({}, of('name', 'symbol', 'tokenUri', 'ownerAddress'))],
    erc1155Transfers: [erc1155({}, { metadata: of('decimals', 'properties', 'name'), ...of('tokenUri') })],
    internalTransactions: [internal(of('internalTxType', 'gasUsed', 'gasLimit'))],
  }
  const optional = of('txType', 'nonce', 'gasLimit', 'gasUsed', 'gasPrice', 'blockMinDelayExcess')
  const { rows, rejects } = flatten({ [ALICE]: item({ ...optional, txStatus: nothing }, listed) })
  expect(rejects).toEqual([])
  expect(rows.transactions).toMatchObject([
    { transaction_type: null, status: null, success: null, nonce: null, gas_used: null, gas_price: null },
  ])
  expect(rows.erc20_transfers).toMatchObject([{ token_name: null, token_decimals: null, amount: null }])
  expect(rows.erc721_transfers).toMatchObject([{ token_uri: null, owner_address: null }])
  expect(rows.erc1155_transfers).toMatchObject([{ metadata_decimals: null, metadata_properties: null }])
  expect(rows.internal_transactions).toMatchObject([{ internal_type: null, gas_used: null }])
})

test.for([undefined, null])('lists and parties that are %j are empty or null', (nothing) => {
  const of = item(
    { from: nothing, to: nothing, method: nothing },
    { erc20Transfers: nothing, internalTransactions: nothing },
  )
  const { rows, rejects } = flatten({ [ALICE]: of })
  expect(rejects).toEqual([])
  expect(rows.transactions).toMatchObject([{ from_address: null, to_address: null, method_id: null }])
  expect(rows.erc20_transfers).toEqual([])
})

test.for([
  { field: 'txType', value: '-2147483648', column: 'transaction_type', cell: -2147483648 },
  { field: 'txType', value: 2147483647, column: 'transaction_type', cell: 2147483647 },
  { field: 'nonce', value: '9223372036854775807', column: 'nonce', cell: '9223372036854775807' },
  { field: 'gasLimit', value: '-9223372036854775808', column: 'gas_limit', cell: '-9223372036854775808' },
  { field: 'nonce', value: '007', column: 'nonce', cell: 7 },
  { field: 'value', value: 12, column: 'value', cell: '12' },
  { field: 'value', value: '-0', column: 'value', cell: '0' },
  { field: 'value', value: '00012', column: 'value', cell: '12' },
  { field: 'value', value: String(2n ** 256n - 1n), column: 'value', cell: String(2n ** 256n - 1n) },
  { field: 'txStatus', value: 1, column: 'status', cell: '1' },
])('boundary value $value of $field becomes $cell', ({ field, value, column, cell }) => {
  const { rows, rejects } = flatten({ [ALICE]: item({ [field]: value }) })
  expect(rejects).toEqual([])
  expect(rows.transactions[0]?.[column]).toBe(cell)
})

test('unknown fields and unknown enum values are accepted', () => {
  const of = item(
    { txStatus: 'pending?', surprise: [1], method: { callType: 'NEW_KIND' } },
    { internalTransactions: [internal({ internalTxType: 'CREATE9', more: {} })], extra: 5 },
  )
  const { rows, rejects } = flatten({ [ALICE]: of })
  expect(rejects).toEqual([])
  expect(rows.transactions).toMatchObject([{ status: 'pending?', call_type: 'NEW_KIND' }])
})

test.for([
  { given: 1_700_000_000, ms: 1_700_000_000_000 },
  { given: 1_700_000_000_123, ms: 1_700_000_000_123 },
  { given: '1700000000', ms: 1_700_000_000_000 },
  { given: 0, ms: 0 },
])('metadata updated at $given becomes the time $ms', ({ given, ms }) => {
  const token = { metadata: { metadataLastUpdatedTimestamp: given } }
  const { rows } = flatten({ [ALICE]: item({}, { erc721Transfers: [erc721({}, token)] }) })
  expect(rows.erc721_transfers).toMatchObject([{ metadata_updated_at: ms }])
})

test('an exactly repeated entry counts once', () => {
  const { rows, rejects } = flatten({ [ALICE]: item({}, { erc20Transfers: [erc20(), erc20()] }) })
  expect(rows.erc20_transfers).toHaveLength(1)
  expect(rejects).toEqual([])
})

test.for([
  { list: 'erc20Transfers', table: 'erc20_transfers', make: erc20, other: { address: ALICE } },
  { list: 'erc721Transfers', table: 'erc721_transfers', make: erc721, other: { tokenId: '78' } },
] as const)(
  'if $list has two entries of one log with different facts, the second is rejected as received',
  ({ list, table, make, other }) => {
    const second = make({}, { name: 'Other', unknown: 'kept', ...other })
    const { rows, rejects } = flatten({ [ALICE]: item({}, { [list]: [make(), second, make()] }) })
    expect(rows[table]).toMatchObject([{ token_name: null }])
    expect(rejects).toEqual([
      {
        wallet: ALICE,
        transactionHash: HASH,
        list,
        record: second,
        reason: 'its logIndex occurs twice in one view, with different content',
      },
    ])
  },
)

test.for([
  { list: 'erc20Transfers', table: 'erc20_transfers', make: erc20 },
  { list: 'erc721Transfers', table: 'erc721_transfers', make: erc721 },
] as const)(
  'if an entry of $list is repeated with another name, the first one counts',
  ({ list, table, make }) => {
    const entries = [make({}, { name: 'First' }), make({}, { name: 'Second' })]
    const { rows, rejects } = flatten({ [ALICE]: item({}, { [list]: entries }) })
    expect(rows[table]).toMatchObject([{ token_name: 'First' }])
    expect(rejects).toEqual([])
  },
)

test('a long value is shortened in the reason of its rejection', () => {
  const { rejects } = flatten({ [ALICE]: item({ value: 'x'.repeat(5_000) }) })
  expect(rejects[0]?.reason.length).toBeLessThan(200)
})

test.for([1, '1', '0x1', '43113', 'fuji', true, {}])(
  'an item of chain %j is rejected completely',
  (chainId) => {
    const { rows, rejects } = flatten({ [ALICE]: item({ chainId }) })
    expect(rows).toEqual({})
    expect(rejects).toMatchObject([{ list: null, reason: expect.stringMatching(/^chainId is not 43114: /) }])
  },
)

test.for([
  { list: 'erc20Transfers', table: 'erc20_transfers', make: erc20 },
  { list: 'erc721Transfers', table: 'erc721_transfers', make: erc721 },
  { list: 'erc1155Transfers', table: 'erc1155_transfers', make: erc1155 },
] as const)('an entry of $list that names another chain is rejected alone', ({ list, table, make }) => {
  const foreign = [make({ chainId: '1' }), make({}, { chainId: 1 })]
  const good = make({ logIndex: 99, chainId: '43114' }, { chainId: '0xa86a' })
  const { rows, rejects } = flatten({ [ALICE]: item({}, { [list]: [...foreign, good] }) })
  expect(rows[table]).toHaveLength(1)
  expect(rejects.map(({ record, reason }) => [record, reason])).toEqual([
    [foreign[0], 'chainId is not 43114: "1"'],
    [foreign[1], 'chainId is not 43114: 1'],
  ])
})
