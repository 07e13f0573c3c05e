import { expect, test } from 'vitest'
import type { Movement } from '../../src/accounting/movement.ts'
import { matchOwnTransfers } from '../../src/accounting/paid-swaps.ts'
import { eventsOf } from '../../src/html-report/events.ts'
import { en } from '../../src/html-report/messages/en.ts'
import { sentenceOf } from '../../src/html-report/page/sentence.ts'

const [MAIN, COLD, SHOP, ROUTER, TOKEN] = ['a', 'b', 'c', 'd', 'e'].map(
  (digit) => `0x${digit.repeat(40)}`,
) as [string, string, string, string, string]

/** A movement of the main wallet; positive values came in. */
function moved(value: bigint, changes: Partial<Movement> & { token?: string } = {}): Movement {
  const { token, ...others } = changes
  return {
    time: '2024-01-02T03:04:05.000Z',
    transaction: '0x1',
    chain: '1',
    entry: '',
    wallet: MAIN,
    label: null,
    type: 'transfer',
    isOut: value < 0n,
    counterparty: SHOP,
    isOwn: false,
    asset:
      token === undefined
        ? { type: 'native', address: null, symbol: 'ETH', decimals: 18, tokenId: null }
        : { type: 'erc20', address: token, symbol: 'USDC', decimals: 6, tokenId: null },
    value: value < 0n ? -value : value,
    method: null,
    block: '1',
    index: '0',
    source: 'transactions',
    ...others,
  }
}

const fee = (changes: Partial<Movement> = {}) => moved(-7n, { type: 'fee', counterparty: null, ...changes })

/** The events in short: kind, wallet, party, amounts in and out, and the fee. */
const shortly = (movements: readonly Movement[], isFailed = false) =>
  eventsOf(matchOwnTransfers(movements), isFailed).map(({ kind, wallet, party, fee: paid, ...event }) => [
    kind,
    ...[wallet, party].map((address) => address?.[2]),
    ...[event.in, event.out].map((amounts) => amounts.map(({ value }) => value)),
    paid?.value,
  ])

test('a payment and its fee are one event, and so are amounts to one party', () => {
  expect(shortly([fee(), moved(-5n), moved(-3n, { token: TOKEN })])).toEqual([
    ['sent', 'a', 'c', [], [5n, 3n], 7n],
  ])
})

test('a swap is that of conversions: net of refunds, with the party that was paid', () => {
  const movements = [
    fee(),
    moved(-5n, { counterparty: ROUTER }),
    moved(1n, { counterparty: ROUTER }),
    moved(9n, { token: TOKEN }),
  ]
  expect(shortly(movements)).toEqual([['swapped', 'a', 'd', [9n], [4n], 7n]])
})

test('a transfer between own wallets is one event of the sender', () => {
  const movements = [
    fee(),
    moved(-5n, { counterparty: COLD, isOwn: true }),
    moved(5n, { wallet: COLD, counterparty: MAIN, isOwn: true }),
  ]
  expect(shortly(movements)).toEqual([['moved', 'a', 'b', [], [5n], 7n]])
})

test('a swap that pays another own wallet is a swap and a transfer', () => {
  const movements = [fee(), moved(-5n, { counterparty: ROUTER }), moved(9n, { token: TOKEN, wallet: COLD })]
  expect(shortly(movements)).toEqual([
    ['swapped', 'a', 'd', [9n], [5n], 7n],
    ['moved', 'a', 'b', [], [9n], undefined],
  ])
})

test('an own transfer whose sender has no row is one of the receiver', () => {
  expect(shortly([moved(5n, { counterparty: COLD, isOwn: true })])).toEqual([
    ['moved', 'a', 'b', [5n], [], undefined],
  ])
})

test('a deposit to a pool is one event with its share', () => {
  const method = 'addLiquidity(address)'
  const movements = [
    fee({ method }),
    moved(-5n, { method }),
    moved(-6n, { method, token: TOKEN }),
    moved(2n, { method, token: ROUTER, type: 'mint', counterparty: null }),
  ]
  expect(shortly(movements)).toEqual([['deposited', 'a', 'c', [2n], [5n, 6n], 7n]])
})

test.for([
  [fee({ method: 'approve(address,uint256)' }), false, 'approved'],
  [fee({ method: 'vote(uint256)' }), false, 'called'],
  [fee({ method: 'vote(uint256)' }), true, 'failed'],
] as const)(
  'a transaction that moved nothing is named by its method and outcome: %#',
  ([movement, isFailed, kind]) => {
    expect(shortly([movement], isFailed)).toEqual([[kind, 'a', undefined, [], [], 7n]])
  },
)

test('a sentence leaves out what is missing', () => {
  expect(sentenceOf(en.activity.sentences.received, new Set(['in']))).toBe('Received {in}')
  expect(sentenceOf(en.activity.sentences.withdrew, new Set(['in', 'party']))).toBe(
    'Withdrew {in} from {party}',
  )
})
