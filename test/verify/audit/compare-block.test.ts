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
  hash: '0x1',
  index: '0',
  from: A,
  to: C,
  value: '5',
  blockHash: '0xb',
  wallets: new Set([A]),
  timeMs: SECOND * 1000,
  ...fields,
})
const entry = (fields: object = {}) => ({
  txHash: '0x1',
  blockIndex: 0,
  from: { address: A.toUpperCase().replace('X', 'x') },
  to: { address: C },
  value: '5',
  blockHash: '0xB',
  blockTimestamp: SECOND,
  ...fields,
})
const compare = (sides: { listed: object[]; exported: ExportedTransaction[] }) =>
  compareBlock({
    exported: sides.exported,
    listed: sides.listed.flatMap((one) => parseListedTransaction(one) ?? []),
    isWallet: (address) => [A, B].includes(address),
  } satisfies BlockComparison)

test('finds nothing if listing and export agree', () => {
  expect(compare({ listed: [entry()], exported: [row()] })).toEqual({
    compared: 1,
    missing: [],
    surplus: [],
    differing: [],
  })
})

test.for([
  { when: 'the sender is a wallet', listed: entry(), for: A },
  { when: 'the receiver is a wallet', listed: entry({ from: { address: C }, to: { address: B } }), for: B },
  { when: 'it is listed twice', listed: entry(), for: A },
])('reports a listed transaction as missing if it is not exported, when $when', ({ listed, for: wallet }) => {
  const { missing } = compare({ listed: [listed, listed], exported: [] })
  expect(missing).toEqual([{ hash: '0x1', description: `listed for ${wallet}` }])
})

test('reports a transaction as missing if it is exported only for the other wallet', () => {
  const sides = { listed: [entry({ to: { address: B } })], exported: [row({ to: B })] }
  expect(compare(sides).missing).toEqual([{ hash: '0x1', description: `listed for ${B}` }])
  expect(compare({ ...sides, exported: [row({ to: B, wallets: undefined })] }).missing).toEqual([])
})

test('ignores transactions that concern no wallet', () => {
  const listed = [entry({ from: { address: C } })]
  expect(compare({ listed, exported: [] })).toMatchObject({ compared: 0, missing: [] })
})

test("reports a wallet's exported transaction as surplus if it is not listed", () => {
  const { surplus } = compare({ listed: [], exported: [row()] })
  expect(surplus).toEqual([{ hash: '0x1', description: `exported for ${A}` }])
})

test('does not report a row that was exported only because of a transfer', () => {
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
])('reports that $column differs', ({ column, exported }) => {
  const { differing } = compare({ listed: [entry()], exported: [row(exported)] })
  expect(differing).toEqual([
    { hash: '0x1', description: expect.stringMatching(`^${column}: listed .+, exported`) },
  ])
})

test('compares numbers exactly, whether they are listed as text or number', () => {
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
])('treats an exported time $timeMs and a listed time $milliseconds as equal: $isSame', (given) => {
  const listed = [entry({ blockTimestampMilliseconds: given.milliseconds })]
  const { differing } = compare({ listed, exported: [row({ timeMs: given.timeMs })] })
  expect(differing).toHaveLength(given.isSame ? 0 : 1)
})

test('skips fields that the listing does not contain', () => {
  const bare = { txHash: '0x1', from: null, value: null, blockIndex: 2 ** 60 }
  expect(compare({ listed: [bare], exported: [row()] }).differing).toEqual([])
})

test('skips what the export does not know of a transaction of which its source lists only transfers', () => {
  const unknown = { index: null, from: null, to: null, value: null, blockHash: null }
  expect(compare({ listed: [entry()], exported: [row(unknown)] }).differing).toEqual([])
  const { differing } = compare({ listed: [entry()], exported: [row({ ...unknown, index: '3' })] })
  expect(differing).toEqual([{ hash: '0x1', description: 'transaction_index: listed 0, exported 3' }])
})

test('treats an empty address as null', () => {
  const listed = [entry({ to: { address: '' } })]
  expect(compare({ listed, exported: [row({ to: null })] }).differing).toEqual([])
})

test.for([null, 7, 'text', {}, { txHash: '' }, { txHash: 5 }])(
  'ignores the entry %j, which has no hash',
  (given) => {
    expect(parseListedTransaction(given)).toBeUndefined()
  },
)
