import { expect, test } from 'vitest'
import { likelyCauses } from '../../../src/ledger/balances/causes.ts'

const sum = (type: string, address: string | null = null) => ({
  wallet: `0x${'a'.repeat(40)}`,
  type,
  address,
  tokenId: null,
  value: -1n,
  symbol: null,
  decimals: null,
  firstNegative: undefined,
  isUsed: false,
})
const public2024 = { block: 41_000_000, time: '2024-02-29T23:59:59.000Z' }
const known = { chain: '1', fromBlock: 0, newest: public2024 }

test('lists the likely causes of a negative coin balance on a public chain in order, without coins at genesis', () => {
  expect(likelyCauses(sum('native'), { ...known, fromBlock: 100 })).toEqual([
    expect.stringContaining('before block 100, where the export begins: declare it with --opening'),
    expect.stringContaining('the service does not list, such as block rewards'),
    expect.stringContaining('type-2 transactions'),
    expect.stringContaining('wrapped coins'),
  ])
  expect(likelyCauses(sum('native'), known).join()).not.toMatch(/genesis|--opening/)
})

test('lists imports from the X-Chain or P-Chain before fees on the C-Chain', () => {
  const causes = likelyCauses(sum('native'), { ...known, chain: '43114' })
  const blockchain = '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5'
  expect(likelyCauses(sum('native'), { ...known, chain: blockchain })).toEqual(causes)
  expect(causes).toHaveLength(4)
  expect(causes[1]).toContain('imports from the X-Chain or P-Chain')
  expect(causes.join()).not.toContain('genesis')
})

test('lists coins at genesis for the embedded demo chain only', () => {
  const demo = { ...known, chain: '43114', newest: { block: 421, time: '2023-11-14T22:46:40.000Z' } }
  expect(likelyCauses(sum('native'), demo)).toEqual([expect.stringContaining('coins at genesis')])
  const early = { ...demo, newest: { block: 400, time: '2020-09-23T12:00:00.000Z' } }
  expect(likelyCauses(sum('native'), early).join()).not.toContain('genesis')
})

test('explains a negative token balance by earlier history, wraps without events or wrong events', () => {
  const token = sum('erc20', `0x${'c'.repeat(40)}`)
  expect(likelyCauses(token, { ...known, fromBlock: 7 })).toEqual([expect.stringContaining('before block 7')])
  expect(likelyCauses(token, { ...known, wraps: 'off' })).toEqual([
    expect.stringContaining('without Transfer events, and the job leaves that out (wraps: off)'),
  ])
  expect(likelyCauses(token, { ...known, wraps: 'probably' })).toEqual([
    expect.stringContaining(`wrappedCoins: [${token.address}]`),
  ])
  expect(likelyCauses(token, { ...known, wraps: 'ledger', fromBlock: 7 })).toEqual([
    expect.stringContaining('before block 7'),
    expect.stringContaining('wrapped by a call that the service does not list'),
  ])
  expect(likelyCauses(token, known)).toEqual([expect.stringContaining('do not match its balances')])
})
