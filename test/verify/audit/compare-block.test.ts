import { expect, test } from 'vitest'
import {
  type BlockComparison,
  compareBlock,
  type ExportedTransaction,
} from '../../../src/verify/audit/compare-block.ts'
import { parseListedTransaction } from '../../../src/verify/audit/listed-transaction.ts'

const A = `0x${'a'.repeat(40)}`
const B = `0x${'b'.repeat(40)}`
const C = `0x${'c'.repeat(40)}`

const SECOND = 1_700_000_000

const row = (fields: Partial<ExportedTransaction> = {}): ExportedTransaction => ({
  ...{ hash: '0x1', index: '0', from: A, to: C, value: '5', blockHash: '0xb', wallets: new Set([A]) },
  timeMs: SECOND * 1000,
  ...fields,
})
const entry = (fields: object = {}) => ({
  ...{ txHash: '0x1', blockIndex: 0, from: { address: A.toUpperCase().replace('X', 'x') } },
  ...{ to: { address: C }, value: '5', blockHash: '0xB', blockTimestamp: SECOND, ...fields },
})
const compare = (sides: { listed: object[]; exported: ExportedTransaction[] }) =>
  compareBlock({
    exported: sides.exported,
    listed: sides.listed.flatMap((one) => parseListedTransaction(one) ?? []),
    isWallet: (address) => [A, B].includes(address),
  } satisfies BlockComparison)

test('finds nothing where both sides say the same', () => {
  expect(compare({ listed: [entry()], exported: [row()] })).toEqual({
    ...{ compared: 1, missing: [], surplus: [], differing: [] },
  })
})

test.for([
  { when: 'the sender is a wallet', listed: entry(), for: A },
  { when: 'the receiver is a wallet', listed: entry({ from: { address: C }, to: { address: B } }), for: B },
  { when: 'it is listed twice', listed: entry(), for: A },
])('misses a listed transaction that is not exported, when $when', ({ listed, for: wallet }) => {
  const { missing } = compare({ listed: [listed, listed], exported: [] })
  expect(missing).toEqual([{ hash: '0x1', description: `listed for ${wallet}` }])
})

test('misses a transaction that is exported for the other wallet only', () => {
  const sides = { listed: [entry({ to: { address: B } })], exported: [row({ to: B })] }
  expect(compare(sides).missing).toEqual([{ hash: '0x1', description: `listed for ${B}` }])
  expect(compare({ ...sides, exported: [row({ to: B, wallets: undefined })] }).missing).toEqual([])
})

test("leaves strangers' transactions alone", () => {
  const listed = [entry({ from: { address: C } })]
  expect(compare({ listed, exported: [] })).toMatchObject({ compared: 0, missing: [] })
})

test('finds an exported transaction of a wallet that is not listed', () => {
  const { surplus } = compare({ listed: [], exported: [row()] })
  expect(surplus).toEqual([{ hash: '0x1', description: `exported for ${A}` }])
})

test('does not judge a row that is there for a transfer only', () => {
  expect(compare({ listed: [], exported: [row({ from: C })] })).toMatchObject({ surplus: [] })
})

test.for([
  { column: 'from_address', exported: { from: B, wallets: new Set([A, B]) } },
  { column: 'to_address', exported: { to: null } },
  { column: 'value', exported: { value: '6' } },
  { column: 'transaction_index', exported: { index: '1' } },
  { column: 'block_hash', exported: { blockHash: '0xc' } },
  { column: 'block_timestamp', exported: { timeMs: (SECOND + 1) * 1000 } },
  { column: 'block_timestamp', exported: { timeMs: SECOND * 1000 + 7 } },
])('tells that $column differs', ({ column, exported }) => {
  const { differing } = compare({ listed: [entry()], exported: [row(exported)] })
  expect(differing).toEqual([
    { hash: '0x1', description: expect.stringMatching(`^${column}: listed .+, exported`) },
  ])
})

test('compares exact numbers, whatever form they are listed in', () => {
  const value = (2n ** 200n).toString()
  const listed = [entry({ value: `00${value}`, blockIndex: '0' })]
  expect(compare({ listed, exported: [row({ value })] }).differing).toEqual([])
})

test.for([
  { milliseconds: SECOND * 1000 + 250, timeMs: SECOND * 1000 + 250, isSame: true },
  { milliseconds: String(SECOND * 1000 + 250), timeMs: SECOND * 1000, isSame: true },
  { milliseconds: SECOND * 1000 + 250, timeMs: SECOND * 1000 + 251, isSame: false },
  { milliseconds: 0, timeMs: 0, isSame: false },
  { milliseconds: (SECOND + 9) * 1000, timeMs: (SECOND + 9) * 1000, isSame: false },
  { milliseconds: undefined, timeMs: SECOND * 1000, isSame: true },
])('a time of $timeMs beside $milliseconds milliseconds is the same: $isSame', (given) => {
  const listed = [entry({ blockTimestampMilliseconds: given.milliseconds })]
  const { differing } = compare({ listed, exported: [row({ timeMs: given.timeMs })] })
  expect(differing).toHaveLength(given.isSame ? 0 : 1)
})

test('compares no field that the listing does not give', () => {
  const bare = { txHash: '0x1', from: null, value: null, blockIndex: 2 ** 60 }
  expect(compare({ listed: [bare], exported: [row()] }).differing).toEqual([])
})

test('takes an empty address for none', () => {
  const listed = [entry({ to: { address: '' } })]
  expect(compare({ listed, exported: [row({ to: null })] }).differing).toEqual([])
})

test.for([null, 7, 'text', {}, { txHash: '' }, { txHash: 5 }])('reads nothing from the entry %j', (given) => {
  expect(parseListedTransaction(given)).toBeUndefined()
})
