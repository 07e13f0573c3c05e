import { describe, expect, test } from 'vitest'
import type { DivergentTransaction } from '../../../src/verify/reconcile/divergent-rows.ts'
import { markOverstated } from '../../../src/verify/reconcile/find-overstated.ts'
import {
  coinCause,
  type ExportedChain,
  suspectOf,
  tokenCause,
} from '../../../src/verify/reconcile/likely-cause.ts'

const WAVAX = '0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7'

const exported = (changes: Partial<ExportedChain> = {}): ExportedChain => ({
  chain: '43114',
  hasAtomic: true,
  internals: undefined,
  wraps: 'ledger',
  ...changes,
})

const transaction = (hash: string, changes: Partial<DivergentTransaction> = {}): DivergentTransaction => ({
  hash,
  type: 2,
  hasFeeCap: true,
  mayLackFee: false,
  fee: 100n,
  moves: false,
  ...changes,
})

/** A difference that begins in block 7. */
const coin = (
  excess: bigint,
  transactions: readonly DivergentTransaction[],
  changes: Partial<ExportedChain> = {},
) => ({
  ...exported(changes),
  divergence: { fromBlock: 7, toBlock: 7, isInOwnBlock: true, excess },
  transactions,
})

describe('fees that lack a part', () => {
  test.for([
    { type: 2, option: true },
    { type: 0, option: false },
  ])('are the likely cause of a negative difference: type $type', ({ type, option }) => {
    const receipt = transaction('0xa', { type: null, fee: 0n, moves: true })
    const sent = transaction('0xb', { type, hasFeeCap: false, mayLackFee: true })
    const differing = coin(-5n, [receipt, sent])
    expect(suspectOf(differing)).toBe(sent)
    expect(coinCause(differing)).toMatch(/^the fee may lack .* on L1 \(-5\): .*the receipt \(transaction 0xb/)
    expect(coinCause(differing).includes('--fees exact')).toBe(option)
  })

  test.for([
    { when: 'the whole fee is known', excess: -5n, mayLackFee: false },
    { when: 'the service has more coins', excess: 500n, mayLackFee: true },
  ])('are none if $when', ({ excess, mayLackFee }) => {
    expect(coinCause(coin(excess, [transaction('0xb', { mayLackFee })]))).not.toContain('fee may lack')
  })
})

test('transactions whose details confirm their fee are not taken for overstated', async () => {
  const all = [transaction('0xa'), transaction('0xb'), transaction('0xc', { fee: 0n, moves: true })]
  const search = { excess: 9n, maxRequests: 20 }
  const confirmed = await markOverstated(all, search, { readFee: async () => 100n })
  expect(coinCause(coin(9n, confirmed))).toContain('an internal payment to the wallet is not listed (+9)')

  const paid = async (hash: string) => (hash === '0xb' ? 91n : 100n)
  const found = await markOverstated(all, search, { readFee: paid })
  expect(coinCause(coin(9n, found))).toMatch(/so the fee is 9 too high: .*\(transaction 0xb, block 7\)$/)

  const unknown = await markOverstated(all, search, { readFee: async () => undefined })
  expect(coinCause(coin(9n, unknown))).toMatch(/so the fee is 9 too high: .*\(transaction 0xa, block 7\)$/)
})

test.for([
  { wraps: 'off', says: /run the job with --wraps ledger$/ },
  { wraps: undefined, says: /run the job with --wraps ledger$/ },
  {
    wraps: 'ledger',
    says: /a call that is not listed: set internals: full in the job and run it with --fresh/,
  },
  { wraps: 'ledger', internals: 'full', says: /a call that is not listed: confirm with/ },
  { wraps: 'off', chain: '1', says: /add it to the job \(wrappedCoins: \[0xb31f66/ },
  { wraps: 'off', chain: '1', wrappedCoins: [WAVAX], says: /run the job with --wraps ledger$/ },
] as const)('a wrapped coin differs by its wrapping: $wraps, $internals, $chain', ({ says, ...changes }) => {
  const token = { type: 'erc20', address: WAVAX, tokenId: null, symbol: 'WAVAX', wallet: '0x1' } as const
  expect(tokenCause({ ...token, ledger: -1n, service: 5n }, exported(changes), true)).toMatch(says)
})

test('a difference at block 0 with an opening balance is due to the opening balance', () => {
  const atGenesis = { fromBlock: 0, toBlock: 0, isInOwnBlock: false, excess: -5n }
  const differing = { ...coin(-5n, []), divergence: atGenesis }
  expect(coinCause({ ...differing, hasOpening: true })).toMatch(/^at block 0, .* differs by -5 .*--opening$/)
  expect(coinCause(differing)).not.toContain('--opening')
})
