import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { ALICE, BOB, erc20, erc721, erc1155, flatten, HASH, internal, item, party, TOKEN } from './items.ts'

const MAX = String(2n ** 256n - 1n)

const PREFIX = {
  chain_id: '43114',
  block_number: 100,
  block_hash: `0x${'b1'.repeat(32)}`,
  block_timestamp: 1_700_000_000_000,
  transaction_hash: HASH,
  transaction_index: 3,
}

test('a transaction row contains every field of its item', () => {
  const full = item({
    blockTimestampMilliseconds: 1_700_000_000_123,
    nonce: '12',
    from: party(ALICE, 'Alice'),
    to: party(BOB, 'Bob'),
    value: MAX,
    gasLimit: '30000',
    gasUsed: '21000',
    gasPrice: '25000000000',
    method: { callType: 'CONTRACT_CALL', methodHash: '0xA9059CBB', methodName: 'Transfer(address)' },
    blockMinDelayExcess: 7,
  })
  expect(flatten({ [ALICE]: full }).rows.transactions).toEqual([
    {
      ...PREFIX,
      block_timestamp: 1_700_000_000_123,
      transaction_type: 2,
      status: '1',
      success: true,
      nonce: 12,
      from_address: ALICE,
      from_name: 'Alice',
      to_address: BOB,
      to_name: 'Bob',
      value: MAX,
      gas_limit: 30000,
      gas_used: 21000,
      gas_price: '25000000000',
      effective_gas_price: null,
      transaction_fee: '525000000000000',
      call_type: 'CONTRACT_CALL',
      method_id: '0xa9059cbb',
      method_name: 'Transfer(address)',
      block_min_delay_excess: 7,
      extra_fee: '0',
    },
  ])
})

test.for([
  { status: '1', success: true },
  { status: '0', success: false },
  ...[1, '0x1', '0X1', true, 'true', 'Success', 'SUCCESS'].map((status) => ({ status, success: true })),
  ...[0, '0x0', false, 'FALSE', 'failed', 'Failure', 'ERROR'].map((status) => ({ status, success: false })),
  ...['2', 'pending', '0x2', ' 1', '01', 'ok'].map((status) => ({ status, success: null })),
  { status: undefined, success: null },
  { status: '', success: null },
])('status $status means success $success', ({ status, success }) => {
  expect(flatten({ [ALICE]: item({ txStatus: status }) }).rows.transactions).toMatchObject([
    { status: status === undefined || status === '' ? null : String(status), success },
  ])
})

test('a fee above 2^53 is exact', () => {
  const { rows } = flatten({ [ALICE]: item({ gasUsed: '9007199254740993', gasPrice: '3000000000001' }) })
  expect(rows.transactions).toMatchObject([
    { gas_used: '9007199254740993', transaction_fee: String(9007199254740993n * 3000000000001n) },
  ])
})

test('an item without a chain id gets the chain of the job', () => {
  const { rows } = flatten({ [ALICE]: item({ chainId: undefined }) }, { chain: 'fuji' })
  expect(rows.transactions).toMatchObject([{ chain_id: 'fuji' }])
})

test.for([
  { requested: '43114', given: 43114 },
  { requested: '43114', given: '0xa86a' },
  { requested: '0xa86a', given: '43114' },
  { requested: '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5', given: undefined },
  { requested: 'an-unknown-blockchain', given: '0xa86a' },
])(
  'rows have the EVM chain id if the job has chain $requested and the item $given',
  ({ requested, given }) => {
    const { rows, rejects } = flatten({ [ALICE]: item({ chainId: given }) }, { chain: requested })
    expect(rejects).toEqual([])
    expect(rows.transactions).toMatchObject([{ chain_id: '43114' }])
  },
)

test('an ERC-20 row contains token, amount and price', () => {
  const price = { currencyCode: 'usd', value: '0.9990' }
  const list = [erc20({ from: party(ALICE, 'A') }, { address: TOKEN.toUpperCase(), name: 'Token', price })]
  expect(flatten({ [ALICE]: item({}, { erc20Transfers: list }) }).rows.erc20_transfers).toEqual([
    {
      ...PREFIX,
      transfer_id: '5',
      log_index: 5,
      token_address: TOKEN,
      token_name: 'Token',
      token_symbol: 'TKN',
      token_decimals: 6,
      from_address: ALICE,
      from_name: 'A',
      to_address: BOB,
      to_name: null,
      value: '2500000',
      amount: '2.5',
      price_currency: 'usd',
      price_value: '0.999',
    },
  ])
})

const METADATA = {
  indexStatus: 'indexed',
  metadataLastUpdatedTimestamp: 1_699_999_999,
  name: 'n',
  symbol: 's',
  description: 'd',
  imageUri: 'i',
  animationUri: 'a',
  externalUrl: 'e',
  background: 'b',
}
const METADATA_ROW = {
  metadata_index_status: 'indexed',
  metadata_updated_at: 1_699_999_999_000,
  metadata_name: 'n',
  metadata_symbol: 's',
  metadata_description: 'd',
  metadata_image_uri: 'i',
  metadata_animation_uri: 'a',
  metadata_external_url: 'e',
  metadata_background: 'b',
}

test('an ERC-721 row contains token and all metadata', () => {
  const token = {
    name: 'Art',
    tokenId: MAX,
    tokenUri: 'ipfs://x',
    ownerAddress: BOB.toUpperCase().replace('0X', '0x'),
    metadata: { ...METADATA, attributes: '[]' },
  }
  const { rows } = flatten({ [ALICE]: item({}, { erc721Transfers: [erc721({}, token)] }) })
  expect(rows.erc721_transfers).toEqual([
    {
      ...PREFIX,
      transfer_id: '6',
      log_index: 6,
      token_address: TOKEN,
      token_name: 'Art',
      token_symbol: 'ART',
      token_id: MAX,
      token_uri: 'ipfs://x',
      owner_address: BOB,
      from_address: ALICE,
      from_name: null,
      to_address: BOB,
      to_name: null,
      ...METADATA_ROW,
      metadata_attributes: '[]',
    },
  ])
})

test('an ERC-1155 row contains token and all metadata', () => {
  const token = { tokenUri: 'ipfs://y', metadata: { ...METADATA, decimals: 2, properties: '{}' } }
  const { rows } = flatten({ [ALICE]: item({}, { erc1155Transfers: [erc1155({}, token)] }) })
  expect(rows.erc1155_transfers).toEqual([
    {
      ...PREFIX,
      transfer_id: '7.0',
      log_index: 7,
      transfer_ordinal: 0,
      token_address: TOKEN,
      token_id: '9',
      token_uri: 'ipfs://y',
      from_address: ALICE,
      from_name: null,
      to_address: BOB,
      to_name: null,
      value: '4',
      ...METADATA_ROW,
      metadata_decimals: 2,
      metadata_properties: '{}',
    },
  ])
})

const idOf = (content: unknown[], occurrence: number) =>
  `${createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16)}-${occurrence}`

test('internal ids hash the content and count its occurrences', () => {
  const list = [internal(), internal({ value: '11' }), internal()]
  const { rows } = flatten({ [ALICE]: item({}, { internalTransactions: list }) })
  const content = (value: string) => [ALICE, BOB, value]
  expect(rows.internal_transactions.map(({ internal_id }) => internal_id)).toEqual([
    idOf(content('10'), 0),
    idOf(content('11'), 0),
    idOf(content('10'), 1),
  ])
  expect(rows.internal_transactions[0]).toEqual({
    ...PREFIX,
    internal_id: idOf(content('10'), 0),
    internal_type: 'CALL',
    from_address: ALICE,
    from_name: null,
    to_address: BOB,
    to_name: null,
    value: '10',
    reverted: false,
    gas_limit: 30000,
    gas_used: 21000,
  })
})

test('internal ids hash addresses in lower case and absent values as null', () => {
  const bare = {
    from: party(ALICE.toUpperCase().replace('0X', '0x')),
    to: party(''),
    value: '1',
    isReverted: true,
  }
  const { rows } = flatten({ [ALICE]: item({}, { internalTransactions: [bare] }) })
  expect(rows.internal_transactions[0]?.internal_id).toBe(idOf([ALICE, null, '1'], 0))
})

test.for([
  { what: 'names of a party', change: { from: party(ALICE, 'Alice') } },
  { what: 'the kind of call', change: { internalTxType: 'UNKNOWN' } },
  { what: 'gas figures', change: { gasUsed: '1', gasLimit: null } },
  { what: 'the reverted flag', change: { isReverted: true } },
])('$what do not change an internal id', ({ change }) => {
  const list = [internal(), internal(change)]
  const { rows } = flatten({ [ALICE]: item({}, { internalTransactions: list }) })
  const [first, second] = rows.internal_transactions.map((row) => String(row.internal_id))
  expect(second).toBe(first?.replace(/-0$/, '-1'))
})

test('ordinals count the entries of one log in listing order', () => {
  const list = [1, 2, 1, 1].map((logIndex, at) => erc1155({ logIndex, value: String(at + 1) }))
  const { rows } = flatten({ [ALICE]: item({}, { erc1155Transfers: list }) })
  expect(
    rows.erc1155_transfers.map(({ log_index, transfer_ordinal, value }) => [
      log_index,
      transfer_ordinal,
      value,
    ]),
  ).toEqual([
    [1, 0, '1'],
    [1, 1, '3'],
    [1, 2, '4'],
    [2, 0, '2'],
  ])
})

test('identical entries of a batch are distinguished by their ordinal', () => {
  const { rows } = flatten({
    [ALICE]: item({}, { erc1155Transfers: [erc1155(), erc1155(), erc1155()] }),
  })
  expect(rows.erc1155_transfers.map(({ transfer_ordinal }) => transfer_ordinal)).toEqual([0, 1, 2])
})

test('a rejected entry of a batch still takes an ordinal', () => {
  const list = [erc1155({ value: 'many' }), erc1155()]
  const { rows, rejects } = flatten({ [ALICE]: item({}, { erc1155Transfers: list }) })
  expect(rows.erc1155_transfers).toMatchObject([{ transfer_ordinal: 1, value: '4' }])
  expect(rejects).toMatchObject([{ list: 'erc1155Transfers', record: list[0] }])
})

test('a wallet_transactions row has the role of the wallet and the counts of its view', () => {
  const lists = {
    erc20Transfers: [erc20({ logIndex: 1 }), erc20({ logIndex: 2 })],
    erc721Transfers: [erc721()],
    erc1155Transfers: [erc1155(), erc1155(), erc1155()],
    internalTransactions: [internal()],
  }
  const { rows } = flatten({ [ALICE]: item({}, lists) }, { wallets: new Map([[ALICE, 'hot']]) })
  expect(rows.wallet_transactions).toEqual([
    {
      ...PREFIX,
      wallet_address: ALICE,
      wallet_label: 'hot',
      is_sender: true,
      is_receiver: false,
      erc20_transfers: 2,
      erc721_transfers: 1,
      erc1155_transfers: 3,
      internal_transactions: 1,
    },
  ])
})

test('lone surrogates in names become the replacement character', () => {
  const { rows } = flatten({ [ALICE]: item({ from: party(ALICE, 'a\ud800b') }) })
  expect(rows.transactions).toMatchObject([{ from_name: 'a\ufffdb' }])
})
