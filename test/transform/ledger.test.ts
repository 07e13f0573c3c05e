import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  ALICE,
  BOB,
  CAROL,
  erc20,
  erc721,
  erc1155,
  flatten,
  HASH,
  type Item,
  internal,
  item,
  type Json,
  party,
  TOKEN,
  ZERO,
} from './items.ts'

/** The ledger of one item in the listing of ALICE, the job's only wallet. */
const ledgerOf = (of: Item) => flatten({ [ALICE]: of }).rows.ledger

const brief = (rows: Json[]) =>
  rows.map(({ entry_type, direction, value, source }) => `${entry_type} ${direction} ${value} ${source}`)

const PAID = { gasUsed: '21000', gasPrice: '25' }

test('a failed transaction has only a fee row for its sender', () => {
  const lists = {
    erc20Transfers: [erc20()],
    erc721Transfers: [erc721()],
    erc1155Transfers: [erc1155()],
    internalTransactions: [internal()],
  }
  const failed = item({ ...PAID, txStatus: '0', value: '5' }, lists)
  expect(brief(ledgerOf(failed))).toEqual(['fee out -525000 transactions'])
  expect(flatten({ [BOB]: failed }).rows.ledger).toEqual([])
})

test('a transaction with unknown status moves its value and pays its fee', () => {
  expect(brief(ledgerOf(item({ ...PAID, txStatus: '7', value: '5' })))).toEqual([
    'fee out -525000 transactions',
    'transfer out -5 transactions',
  ])
})

test('a fee row has no counterparty and the native coin as its asset', () => {
  const [fee] = ledgerOf(item({ ...PAID, to: party(BOB, 'Bob') }))
  expect(fee).toMatchObject({
    entry_type: 'fee',
    direction: 'out',
    counterparty_address: null,
    counterparty_name: null,
    counterparty_is_own: false,
    asset_type: 'native',
    asset_address: null,
    asset_symbol: 'AVAX',
    asset_decimals: 18,
    token_id: null,
    value: '-525000',
    amount: '-0.000000000000525',
    source: 'transactions',
  })
})

test('the receiver of a transaction pays no fee', () => {
  expect(brief(flatten({ [BOB]: item({ ...PAID, value: '5' }) }).rows.ledger)).toEqual([
    'transfer in 5 transactions',
  ])
})

test.for([
  { when: 'the gas price is absent', fields: { gasUsed: '21000' } },
  { when: 'the gas used is absent', fields: { gasPrice: '25' } },
  { when: 'the gas price is zero', fields: { gasUsed: '21000', gasPrice: '0' } },
])('there is no fee row if $when', ({ fields }) => {
  expect(ledgerOf(item(fields))).toEqual([])
})

test('a transfer to oneself has two self rows, out before in', () => {
  const toSelf = { from: party(ALICE), to: party(ALICE) }
  const rows = ledgerOf(item({ ...toSelf, value: '5' }, { erc20Transfers: [erc20(toSelf)] }))
  expect(brief(rows)).toEqual([
    'self out -5 transactions',
    'self in 5 transactions',
    'self out -2500000 erc20_transfers',
    'self in 2500000 erc20_transfers',
  ])
  expect(rows.map(({ counterparty_address }) => counterparty_address)).toEqual([ALICE, ALICE, ALICE, ALICE])
  expect(rows.map(({ counterparty_is_own }) => counterparty_is_own)).toEqual([true, true, true, true])
})

test('a transfer from the zero address is a mint, one to it a burn', () => {
  const minted = erc20({ logIndex: 1, from: party(ZERO), to: party(ALICE) })
  const burnt = erc20({ logIndex: 2, from: party(ALICE), to: party(ZERO) })
  expect(brief(ledgerOf(item({}, { erc20Transfers: [minted, burnt] })))).toEqual([
    'mint in 2500000 erc20_transfers',
    'burn out -2500000 erc20_transfers',
  ])
})

test('a movement between two wallets of the job has a row for each of them', () => {
  const views = { [ALICE]: item({ value: '5' }), [BOB]: item({ value: '5' }) }
  const { rows } = flatten(views, {
    wallets: new Map([
      [ALICE, 'hot'],
      [BOB, null],
    ]),
  })
  const side = ({ wallet_address, wallet_label, counterparty_address, counterparty_is_own, value }: Json) => [
    wallet_address,
    wallet_label,
    counterparty_address,
    counterparty_is_own,
    value,
  ]
  expect(rows.ledger.map(side)).toEqual([
    [ALICE, 'hot', BOB, true, '-5'],
    [BOB, null, ALICE, true, '5'],
  ])
})

test('a counterparty outside of the job is not own and keeps its name', () => {
  const [row] = ledgerOf(item({ value: '5', to: party(CAROL, 'Carol') }))
  expect(row).toMatchObject({
    counterparty_address: CAROL,
    counterparty_name: 'Carol',
    counterparty_is_own: false,
  })
})

test('party addresses are compared regardless of letter case', () => {
  expect(brief(ledgerOf(item({ value: '5', from: party(`0x${'A'.repeat(40)}`) })))).toEqual([
    'transfer out -5 transactions',
  ])
})

test('a movement without a receiver address has no counterparty', () => {
  const [row] = ledgerOf(item({ value: '5', to: party('') }))
  expect(row).toMatchObject({ entry_type: 'transfer', direction: 'out', counterparty_address: null })
})

test.for(['DELEGATECALL', 'STATICCALL', 'CALLCODE', 'delegatecall'])(
  'an internal %s is a fact without a ledger row',
  (internalTxType) => {
    const { rows } = flatten({
      [ALICE]: item({}, { internalTransactions: [internal({ internalTxType })] }),
    })
    expect(rows.internal_transactions).toHaveLength(1)
    expect(rows.ledger).toEqual([])
  },
)

test.for(['CALL', 'CREATE', 'CREATE2', 'UNKNOWN', 'SOMETHING_NEW', ''])(
  'an internal entry of type "%s" moves its value',
  (internalTxType) => {
    expect(brief(ledgerOf(item({}, { internalTransactions: [internal({ internalTxType })] })))).toEqual([
      'transfer out -10 internal_transactions',
    ])
  },
)

test('a reverted internal entry is a fact without a ledger row', () => {
  const { rows } = flatten({
    [ALICE]: item({}, { internalTransactions: [internal({ isReverted: true })] }),
  })
  expect(rows.internal_transactions).toMatchObject([{ reverted: true, value: '10' }])
  expect(rows.ledger).toEqual([])
})

const OUTER = { value: '10', gasUsed: '21000', gasLimit: '30000' }
const calls = (...changes: Json[]) => ({ internalTransactions: changes.map((change) => internal(change)) })
const callRows = (rows: Json[]) => rows.filter(({ source }) => source === 'internal_transactions').length

test.for(['CALL', 'CREATE', 'CREATE2', 'CREATE3', 'UNKNOWN', 'unknown', null])(
  'an internal entry of kind %j that equals its transaction is a fact without a ledger row',
  (internalTxType) => {
    const { rows } = flatten({ [ALICE]: item(OUTER, calls({ internalTxType })) })
    expect(rows.internal_transactions).toHaveLength(1)
    expect(brief(rows.ledger)).toEqual(['transfer out -10 transactions'])
  },
)

test.for([
  { what: 'sender', outer: {}, entry: { from: party(CAROL), to: party(ALICE) } },
  { what: 'receiver', outer: {}, entry: { to: party(CAROL) } },
  { what: 'value', outer: {}, entry: { value: '9' } },
  { what: 'receiver (none)', outer: {}, entry: { to: party('') } },
])('an internal entry with another $what than its transaction moves its value', ({ outer, entry }) => {
  expect(callRows(ledgerOf(item({ ...OUTER, ...outer }, calls(entry))))).toBe(1)
})

test('if several internal entries equal their transaction, all but the first move their value', () => {
  expect(callRows(ledgerOf(item(OUTER, calls({}, {}, {}))))).toBe(2)
})

test.for([{ gasUsed: '20999' }, { gasLimit: '29999' }, { gasUsed: '0', gasLimit: '0' }, { gasLimit: null }])(
  'the only internal entry of the sender equals its transaction whatever its gas (%j)',
  (gas) => {
    const refund = { from: party(CAROL), to: party(ALICE), value: '3' }
    expect(callRows(ledgerOf(item(OUTER, calls(gas, refund))))).toBe(1)
    expect(callRows(ledgerOf(item({ ...OUTER, txType: 4 }, calls(gas))))).toBe(1)
    // An account with code may call the same contract again.
    expect(callRows(ledgerOf(item(OUTER, calls(gas, gas))))).toBe(2)
  },
)

test('a reverted internal entry that equals its transaction does not stand for the top-level call', () => {
  const reverted = { isReverted: true }
  for (const [changes, rows] of [
    [[reverted, {}], 0],
    [[{}, reverted], 0],
    [[reverted, {}, {}], 1],
    [[reverted], 0],
  ] as const)
    expect([changes, callRows(ledgerOf(item(OUTER, calls(...changes))))]).toEqual([changes, rows])
})

test.for([
  { outer: { to: party('') }, entry: { internalTxType: 'CREATE' } },
  { outer: { to: party('') }, entry: { internalTxType: 'UNKNOWN' } },
  { outer: {}, entry: { internalTxType: 'CREATE2', to: party('') } },
  {
    outer: { method: { callType: 'CONTRACT_CREATION' } },
    entry: { internalTxType: 'UNKNOWN', to: party('') },
  },
])('a creation equals its transaction if one of the two lacks the receiver: %j', ({ outer, entry }) => {
  expect(callRows(ledgerOf(item({ ...OUTER, ...outer }, calls(entry))))).toBe(0)
})

test('movements of zero are facts without a ledger row', () => {
  const { rows } = flatten({
    [ALICE]: item(
      { value: '0' },
      {
        erc20Transfers: [erc20({ value: '000' })],
        erc1155Transfers: [erc1155({ value: '0' })],
        internalTransactions: [internal({ value: '0' })],
      },
    ),
  })
  expect(rows.erc20_transfers).toMatchObject([{ value: '0', amount: '0' }])
  expect(rows.erc1155_transfers).toHaveLength(1)
  expect(rows.internal_transactions).toHaveLength(1)
  expect(rows.ledger).toEqual([])
})

test('an ERC-20 amount is exact, and null without decimals', () => {
  const list = [
    erc20({ logIndex: 1, value: '1' }, { decimals: 18 }),
    erc20({ logIndex: 2, value: String(2n ** 256n - 1n) }, { decimals: 0 }),
    erc20({ logIndex: 3 }, { decimals: null }),
    erc20({ logIndex: 4 }, { decimals: 256 }),
  ]
  const rows = ledgerOf(item({}, { erc20Transfers: list }))
  expect(rows.map(({ asset_decimals, amount }) => [asset_decimals, amount])).toEqual([
    [18, '-0.000000000000000001'],
    [0, `-${2n ** 256n - 1n}`],
    [null, null],
    [256, null],
  ])
})

test('an ERC-721 transfer moves one token without decimals', () => {
  expect(ledgerOf(item({}, { erc721Transfers: [erc721()] }))).toMatchObject([
    {
      asset_type: 'erc721',
      asset_address: TOKEN,
      asset_symbol: 'ART',
      asset_decimals: 0,
      token_id: '77',
      value: '-1',
      amount: '-1',
    },
  ])
})

test.for([
  { metadata: { decimals: 1 }, asset_decimals: 1, amount: '-0.4' },
  { metadata: { decimals: 0 }, asset_decimals: 0, amount: '-4' },
  { metadata: {}, asset_decimals: null, amount: null },
  { metadata: null, asset_decimals: null, amount: null },
])('an ERC-1155 transfer with metadata $metadata has the amount $amount', ({ metadata, ...expected }) => {
  expect(ledgerOf(item({}, { erc1155Transfers: [erc1155({}, { metadata })] }))).toMatchObject([
    { asset_type: 'erc1155', asset_address: TOKEN, token_id: '9', value: '-4', ...expected },
  ])
})

const BUSY = item(
  { ...PAID, value: '5' },
  {
    erc20Transfers: [erc20({ logIndex: 9 }), erc20({ logIndex: 2 })],
    erc721Transfers: [erc721({ logIndex: 1, from: party(ALICE), to: party(ALICE) })],
    erc1155Transfers: [erc1155({ logIndex: 0 }), erc1155({ logIndex: 0 })],
    internalTransactions: [internal({ value: '3' }), internal({ value: '1' })],
  },
)

test('entry_index counts fee, native value, internal, ERC-20, ERC-721 and ERC-1155 in this order', () => {
  const rows = ledgerOf(BUSY)
  expect(rows.map(({ entry_index }) => entry_index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(brief(rows)).toEqual([
    'fee out -525000 transactions',
    'transfer out -5 transactions',
    'transfer out -3 internal_transactions',
    'transfer out -1 internal_transactions',
    'transfer out -2500000 erc20_transfers',
    'transfer out -2500000 erc20_transfers',
    'self out -1 erc721_transfers',
    'self in 1 erc721_transfers',
    'transfer out -4 erc1155_transfers',
    'transfer out -4 erc1155_transfers',
  ])
})

test('entry_index counts from zero for each wallet', () => {
  const { rows } = flatten({ [ALICE]: BUSY, [BOB]: BUSY })
  const indexes = (wallet: string) =>
    rows.ledger
      .filter(({ wallet_address }) => wallet_address === wallet)
      .map(({ entry_index }) => entry_index)
  expect(indexes(ALICE)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(indexes(BOB)).toEqual([0, 1, 2, 3, 4, 5, 6])
})

test('entry ids hash chain, transaction, wallet, fact, type and direction', () => {
  const sha = (text: string) => createHash('sha256').update(text).digest('hex')
  const content = (value: string) => `${sha(JSON.stringify([ALICE, BOB, value])).slice(0, 16)}-0`
  const id = (rest: string) => sha(`43114|${HASH}|${ALICE}|${rest}`).slice(0, 32)
  expect(ledgerOf(BUSY).map(({ entry_id }) => entry_id)).toEqual([
    id('transactions||fee|out'),
    id('transactions||transfer|out'),
    id(`internal_transactions|${content('3')}|transfer|out`),
    id(`internal_transactions|${content('1')}|transfer|out`),
    id('erc20_transfers|2|transfer|out'),
    id('erc20_transfers|9|transfer|out'),
    id('erc721_transfers|1|self|out'),
    id('erc721_transfers|1|self|in'),
    id('erc1155_transfers|0|0|transfer|out'),
    id('erc1155_transfers|0|1|transfer|out'),
  ])
})

test('a ledger row has the prefix columns and the method of its transaction', () => {
  const [row] = ledgerOf(item({ value: '5', method: { methodName: 'pay()' } }))
  expect(row).toMatchObject({
    chain_id: '43114',
    block_number: 100,
    block_timestamp: 1_700_000_000_000,
    transaction_hash: HASH,
    transaction_index: 3,
    method_name: 'pay()',
  })
})

const COIN_CONTRACTS = {
  polygon: '0x0000000000000000000000000000000000001010',
  zksync: '0x000000000000000000000000000000000000800A',
}

test.for([
  ...['137', '80001', '80002', '0x89'].map((chain) => ({ chain, address: COIN_CONTRACTS.polygon })),
  ...['324', '300', '280'].map((chain) => ({ chain, address: COIN_CONTRACTS.zksync })),
])(
  'a transfer of a token that represents the native coin is a fact without a ledger row (chain $chain)',
  ({ chain, address }) => {
    const of = item({ chainId: chain, value: '5' }, { erc20Transfers: [erc20({ value: '5' }, { address })] })
    const { rows } = flatten({ [ALICE]: of }, { chain })
    expect(rows.erc20_transfers).toHaveLength(1)
    expect(rows.ledger).toMatchObject([{ asset_type: 'native', value: '-5' }])
  },
)

test.for([
  { chain: '43114', address: COIN_CONTRACTS.polygon },
  { chain: '324', address: COIN_CONTRACTS.polygon },
  { chain: '137', address: COIN_CONTRACTS.zksync },
])('the same contract is an ordinary token on chain $chain', ({ chain, address }) => {
  const of = item({ chainId: chain }, { erc20Transfers: [erc20({}, { address })] })
  expect(flatten({ [ALICE]: of }, { chain }).rows.ledger).toHaveLength(1)
})
