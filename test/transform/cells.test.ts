import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TABLE_NAMES, type TableName, tableByName } from '../../src/core/table/index.ts'
import { testSample } from '../helpers/test-sample.ts'
import { ALICE, erc20, erc721, erc1155, flatten, internal, item, type Json, party } from './items.ts'

const INT32_UNFIT = [
  2 ** 31,
  -(2 ** 31) - 1,
  '2147483648',
  1.5,
  '1.5',
  'abc',
  true,
  [],
  {},
  ' 1',
  '1 ',
  '0x2',
]
const INT64_UNFIT = ['9223372036854775808', '18446744073709551615', 2 ** 53, 1.5, '0x10', 'abc', false, {}]
const U256_UNFIT = [String(2n ** 256n), '-1', -1, 1e21, '1e3', '1.0', 'abc', '9'.repeat(201), true, {}]
const NO_OBJECT = [5, 'x', [], true]
const NO_TIME = ['x', -1, 1.5, 253_402_300_800_000, true, {}, -62_135_596_800, '2023-11-14T22:13:20Z']

const spread = (field: string, values: readonly unknown[]) => values.map((value) => ({ field, value }))

const TRANSACTION_COLUMNS: Record<string, string> = {
  txType: 'transaction_type',
  nonce: 'nonce',
  gasLimit: 'gas_limit',
  gasUsed: 'gas_used',
  gasPrice: 'gas_price',
  blockMinDelayExcess: 'block_min_delay_excess',
}

describe('a value that does not fit its column', () => {
  test.for([
    ...spread('txType', INT32_UNFIT),
    ...['nonce', 'gasLimit', 'gasUsed', 'blockMinDelayExcess'].flatMap((field) => spread(field, INT64_UNFIT)),
    ...spread('gasPrice', U256_UNFIT),
  ])(
    'is null in a transaction ($field $value), and the transaction keeps its ledger row',
    ({ field, value }) => {
      const { rows, rejects } = flatten({ [ALICE]: item({ value: '7', [field]: value }) })
      expect(rejects).toEqual([])
      expect(rows.transactions[0]?.[TRANSACTION_COLUMNS[field] ?? '']).toBeNull()
      expect(rows.ledger).toMatchObject([{ value: '-7' }])
    },
  )

  test.for(spread('method', NO_OBJECT))('is null if the method is $value', ({ value }) => {
    const { rows, rejects } = flatten({ [ALICE]: item({ method: value }) })
    expect(rejects).toEqual([])
    expect(rows.transactions).toMatchObject([{ call_type: null, method_id: null, method_name: null }])
  })

  test.for(spread('blockTimestampMilliseconds', [...NO_TIME, 'soon', 0, 1_600_000_000_000]))(
    'is ignored in the block time ($field $value)',
    ({ field, value }) => {
      const { rows, rejects } = flatten({ [ALICE]: item({ [field]: value }) })
      expect(rejects).toEqual([])
      expect(rows.transactions).toMatchObject([{ block_timestamp: 1_700_000_000_000 }])
    },
  )

  test.for(INT32_UNFIT)('is null if the decimals of a token are %j', (decimals) => {
    const lists = {
      erc20Transfers: [erc20({}, { decimals })],
      erc1155Transfers: [erc1155({}, { metadata: { decimals } })],
    }
    const { rows, rejects } = flatten({ [ALICE]: item({}, lists) })
    expect(rejects).toEqual([])
    expect(rows.erc20_transfers).toMatchObject([{ token_decimals: null, value: '2500000', amount: null }])
    expect(rows.erc1155_transfers).toMatchObject([{ metadata_decimals: null, value: '4' }])
    expect(rows.ledger).toHaveLength(2)
  })

  test.for(NO_TIME)('is null if metadata was updated at %j', (metadataLastUpdatedTimestamp) => {
    const token = { metadata: { metadataLastUpdatedTimestamp, name: 'n' } }
    const lists = { erc721Transfers: [erc721({}, token)], erc1155Transfers: [erc1155({}, token)] }
    const { rows, rejects } = flatten({ [ALICE]: item({}, lists) })
    expect(rejects).toEqual([])
    for (const table of ['erc721_transfers', 'erc1155_transfers'] as const)
      expect(rows[table]).toMatchObject([{ metadata_updated_at: null, metadata_name: 'n' }])
  })

  test.for(NO_OBJECT)('is null if metadata or a price is %j', (value) => {
    const lists = {
      erc20Transfers: [erc20({}, { price: value })],
      erc721Transfers: [erc721({}, { metadata: value })],
      erc1155Transfers: [erc1155({}, { metadata: value })],
    }
    const { rows, rejects } = flatten({ [ALICE]: item({}, lists) })
    expect(rejects).toEqual([])
    expect(rows.erc20_transfers).toMatchObject([{ price_currency: null, price_value: null }])
    expect(rows.erc721_transfers).toMatchObject([{ metadata_name: null, metadata_attributes: null }])
    expect(rows.erc1155_transfers).toMatchObject([{ metadata_name: null, metadata_decimals: null }])
  })

  test.for(['abc', '.5', true, [], {}])('is null if the value of a price is %j', (value) => {
    const { rows, rejects } = flatten({
      [ALICE]: item({}, { erc20Transfers: [erc20({}, { price: { currencyCode: 'usd', value } })] }),
    })
    expect(rejects).toEqual([])
    expect(rows.erc20_transfers).toMatchObject([{ price_currency: 'usd', price_value: null }])
  })

  test.for([{ a: 1 }, [], [['x']]])('is null if text is expected and the value is %j', (value) => {
    const changes = { txStatus: value, from: { address: ALICE, name: value } }
    const { rows, rejects } = flatten({
      [ALICE]: item(changes, { erc20Transfers: [erc20({}, { symbol: value })] }),
    })
    expect(rejects).toEqual([])
    expect(rows.transactions).toMatchObject([{ status: null, success: null, from_name: null }])
    expect(rows.erc20_transfers).toMatchObject([{ token_symbol: null, value: '2500000' }])
  })

  test('is kept as JSON in metadata attributes and properties, which accept any JSON', () => {
    const lists = {
      erc721Transfers: [erc721({}, { metadata: { attributes: [{ trait: 'red' }] } })],
      erc1155Transfers: [erc1155({}, { metadata: { properties: { level: 3 } } })],
    }
    const { rows } = flatten({ [ALICE]: item({}, lists) })
    expect(rows.erc721_transfers).toMatchObject([{ metadata_attributes: '[{"trait":"red"}]' }])
    expect(rows.erc1155_transfers).toMatchObject([{ metadata_properties: '{"level":3}' }])
  })

  test.for(INT64_UNFIT)('is null if the gas of an internal transaction is %j', (gas) => {
    const list = [internal({ gasUsed: gas, gasLimit: gas })]
    const { rows, rejects } = flatten({ [ALICE]: item({}, { internalTransactions: list }) })
    expect(rejects).toEqual([])
    expect(rows.internal_transactions).toMatchObject([{ gas_used: null, gas_limit: null, value: '10' }])
    expect(rows.ledger).toMatchObject([{ value: '-10' }])
  })
})

test.for([
  { what: 'the product does not fit 256 bits', gasUsed: '2', gasPrice: String(2n ** 255n) },
  { what: 'the gas used is negative', gasUsed: '-1', gasPrice: '25' },
])('the fee is null if $what', ({ gasUsed, gasPrice }) => {
  const { rows, rejects } = flatten({ [ALICE]: item({ gasUsed, gasPrice }) })
  expect(rejects).toEqual([])
  expect(rows.transactions).toMatchObject([{ transaction_fee: null, gas_price: gasPrice }])
})

test.for([
  ...[true, 'true', 'TRUE', 1, '1', '0x1'].map((given) => ({ given, reverted: true })),
  ...[false, 'false', 0, '0', '0x0', undefined, null, '', 'no', {}, []].map((given) => ({
    given,
    reverted: false,
  })),
])(
  'an internal transaction with isReverted $given is kept with reverted $reverted',
  ({ given, reverted }) => {
    const list = [internal({ isReverted: given })]
    const { rows, rejects } = flatten({ [ALICE]: item({}, { internalTransactions: list }) })
    expect(rejects).toEqual([])
    expect(rows.internal_transactions).toMatchObject([{ reverted }])
    expect(rows.ledger).toHaveLength(reverted ? 0 : 1)
  },
)

/** An item with a fact of every kind and every documented field. */
function fullItem(): Json {
  const metadata = {
    indexStatus: 'INDEXED',
    metadataLastUpdatedTimestamp: 1_699_999_999,
    name: 'n',
    symbol: 's',
    description: 'd',
    imageUri: 'i',
    animationUri: 'a',
    externalUrl: 'e',
    background: 'b',
    attributes: '[]',
    properties: '{}',
    decimals: 0,
  }
  const price = { currencyCode: 'usd', value: '1.5' }
  return item(
    {
      blockTimestampMilliseconds: 1_700_000_000_123,
      nonce: '1',
      from: party(ALICE, 'Alice'),
      value: '5',
      gasLimit: '30000',
      gasUsed: '21000',
      gasPrice: '25',
      blockMinDelayExcess: 7,
      method: { callType: 'CONTRACT_CALL', methodHash: '0xa9059cbb', methodName: 'transfer()' },
    },
    {
      erc20Transfers: [erc20({ from: party(ALICE, 'Alice') }, { name: 'Token', price })],
      erc721Transfers: [erc721({}, { name: 'Art', tokenUri: 'u', ownerAddress: ALICE, metadata })],
      erc1155Transfers: [erc1155({}, { tokenUri: 'u', metadata })],
      internalTransactions: [internal()],
    },
  )
}

/** Fields that identify a record, determine its position, or carry its value. All others are descriptive. */
const DECISIVE = new Set([
  'nativeTransaction',
  'erc20Transfers',
  'erc721Transfers',
  'erc1155Transfers',
  'internalTransactions',
  'chainId',
  'blockNumber',
  'blockTimestamp',
  'blockHash',
  'txHash',
  'blockIndex',
  'from',
  'to',
  'value',
  'erc20Token',
  'erc721Token',
  'erc1155Token',
  'address',
  'tokenId',
  'logIndex',
])

/** The paths of all descriptive fields of a record. */
function descriptivePaths(part: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([key, value]) => {
    const at = [...path, key]
    const isPrice = path.at(-1) === 'price'
    const inside = descriptivePaths(value, at)
    return Array.isArray(part) || (DECISIVE.has(key) && !isPrice) ? inside : [at, ...inside]
  })
}

function replaced(part: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value
  const inside = replaced((part as Json)[key], rest, value)
  return Array.isArray(part) ? part.with(Number(key), inside) : { ...(part as Json), [key]: inside }
}

const garbage = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    '',
    ' 7 ',
    '0x10',
    '-1',
    -1,
    1.5,
    1e308,
    '9'.repeat(90),
    [],
    {},
  ),
  fc.constantFrom('\ud800', 'a\u0000b', 'x'.repeat(70_000), '٣', '__proto__', '1e999999'),
  fc.jsonValue(),
  fc.bigInt({ min: -(2n ** 257n), max: 2n ** 257n }).map(String),
)

/** Columns that identify a row or state what it moves. */
const FACT_COLUMNS = new Set([
  'chain_id',
  'block_number',
  'block_hash',
  'transaction_hash',
  'transaction_index',
  'log_index',
  'transfer_ordinal',
  'transfer_id',
  'from_address',
  'to_address',
  'token_address',
  'token_id',
  'value',
])

const factsIn = (rows: Record<TableName, Json[]>) =>
  TABLE_NAMES.filter((name) => name !== 'ledger' && name !== 'wallet_transactions').map((name) => {
    const names = tableByName(name).columns.map((column) => column.name)
    const kept = names.filter((column) => FACT_COLUMNS.has(column))
    return [name, rows[name].map((row) => kept.map((column) => row[column]))]
  })

testSample(
  1,
  [500, 2_000],
  'an item with garbage in a descriptive field keeps all facts: %i runs',
  (numRuns) => {
    const whole = fullItem()
    const expected = factsIn(flatten({ [ALICE]: whole }).rows)
    const paths = descriptivePaths(whole)
    expect(paths.length).toBeGreaterThan(50)
    fc.assert(
      fc.property(fc.constantFrom(...paths), garbage, (path, value) => {
        const { rows, rejects } = flatten({ [ALICE]: replaced(whole, path, value) })
        expect(rejects).toEqual([])
        expect(factsIn(rows)).toEqual(expected)
      }),
      { numRuns },
    )
  },
)
