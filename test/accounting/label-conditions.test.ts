import { expect, test } from 'vitest'
import { programTypes } from '../../src/accounting/csv/preset.ts'
import { type ImportRow, importRowOf } from '../../src/accounting/import-rows.ts'
import { readLabels } from '../../src/accounting/labels.ts'
import type { Asset, Movement } from '../../src/accounting/movement.ts'
import { bittytax } from '../../src/accounting/presets/bittytax.ts'
import { tempFile } from '../helpers/temp-folder.ts'
import { COIN, movement, token } from './made-up.ts'

const HASH = `0x${'1'.repeat(64)}`
const SHOP = `0x${'b'.repeat(40)}`
const TILL = `0x${'c'.repeat(40)}`
const USDC: Asset = {
  ...token('USDC'),
  address: '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e',
  ticker: 'USDC',
}
const FAKE: Asset = { ...token('USDC'), digits: 'deadbeef' }

const received = movement({
  asset: USDC,
  value: 1n,
  isOut: false,
  transaction: HASH,
  counterparty: SHOP,
  wallet: TILL,
  label: 'Till',
  counterpartyName: 'The Shop',
  method: 'pay(uint256)',
  time: '2024-03-31T12:00:00.000Z',
})

function fileOf(...lines: string[]): string {
  return tempFile('labels.csv', [...lines, ''].join('\n'))
}

const anyText = { sides: new Map(), acceptsAnyText: true, labelsOwnTransfers: true }

async function labelOf(row: Movement | ImportRow, ...lines: string[]): Promise<string | undefined> {
  const { labelOf: labelOfRow } = await readLabels(fileOf(...lines), anyText)
  return labelOfRow('movements' in row ? row : importRowOf(row))
}

test.for([
  { column: 'transaction', cell: HASH.toUpperCase(), other: { transaction: `0x${'2'.repeat(64)}` } },
  { column: 'counterparty', cell: SHOP.toUpperCase(), other: { counterparty: TILL } },
  { column: 'counterparty', cell: 'the shop', other: { counterpartyName: 'The Shopper' } },
  { column: 'counterparty', cell: 'The*', other: { counterpartyName: undefined } },
  { column: 'counterparty', cell: '*', other: { counterparty: null, counterpartyName: undefined } },
  { column: 'method', cell: 'PAY(uint256)', other: { method: 'pay()' } },
  { column: 'method', cell: '*y(*256)', other: { method: 'pay(uint256)[]' } },
  { column: 'method', cell: 'p*a*y*', other: { method: 'pya(uint256)' } },
  { column: 'method', cell: 'pay*(uint256)', other: { method: null } },
  { column: 'token', cell: 'USDC', other: { asset: FAKE } },
  { column: 'token', cell: `${USDC.address}`, other: { asset: FAKE } },
  { column: 'token', cell: 'USD*', other: { asset: COIN } },
  { column: 'wallet', cell: TILL, other: { wallet: SHOP } },
  { column: 'wallet', cell: 'T*ll', other: { label: 'Savings' } },
  { column: 'direction', cell: 'in', other: { isOut: true } },
  { column: 'from', cell: '2024-03-31', other: { time: '2024-03-30T23:59:59.999Z' } },
  { column: 'until', cell: '2024-03-31', other: { time: '2024-04-01T00:00:00.000Z' } },
  { column: 'until', cell: '2024-03-31T12:00:01Z', other: { time: '2024-03-31T12:00:01.000Z' } },
])('$column $cell selects a row that has it, and no other', async ({ column, cell, other }) => {
  const lines = [`${column},type`, `"${cell}",Gift`]
  expect(await labelOf(received, ...lines)).toBe('Gift')
  expect(await labelOf({ ...received, ...other }, ...lines)).toBeUndefined()
})

test.for([
  { cells: 'counterparty,the shop', expected: 'Gift' },
  { cells: `counterparty,${SHOP}`, expected: 'Gift' },
  { cells: `transaction,${HASH}`, expected: 'Gift' },
  ...[
    'counterparty,*',
    'counterparty,the*',
    'token,*',
    'token,USDC',
    'method,pay(uint256)',
    'direction,in',
  ].map((cells) => ({ cells, expected: undefined })),
])('$cells assigns a type to a transfer between own wallets: $expected', async ({ cells, expected }) => {
  const [column, cell] = cells.split(',')
  const own = { ...received, isOwn: true }
  expect(await labelOf(own, `${column},type`, `${cell},Gift`)).toBe(expected)
  expect(await labelOf({ ...own, type: 'self' }, `${column},type`, `${cell},Gift`)).toBe(expected)
})

test('the parts of a pattern do not overlap in a text', async () => {
  expect(await labelOf(received, 'token,type', 'USD*DC,Gift')).toBeUndefined()
})

test('selects the native coin by name, and a token without a ticker by symbol and digits only', async () => {
  expect(await labelOf({ ...received, asset: COIN }, 'token,type', 'native,Gift')).toBe('Gift')
  expect(await labelOf({ ...received, asset: COIN }, 'token,type', 'avax,Gift')).toBe('Gift')
  expect(await labelOf({ ...received, asset: FAKE }, 'token,type', 'usdc-deadbeef,Gift')).toBe('Gift')
})

test('selects a well-known token by its ticker in formats with identifiers of their own', async () => {
  const asset = { ...USDC, ticker: undefined }
  expect(await labelOf({ ...received, asset }, 'token,type', 'USDC,Gift')).toBe('Gift')
})

test('a line selects rows that satisfy all of its conditions', async () => {
  const lines = ['counterparty,token,direction,type', `${SHOP},USDC,in,Income`]
  expect(await labelOf(received, ...lines)).toBe('Income')
  for (const other of [{ counterparty: TILL }, { asset: COIN }, { isOut: true }])
    expect(await labelOf({ ...received, ...other }, ...lines)).toBeUndefined()
})

test('one movement of a swap has to satisfy all conditions, and a swap has no direction', async () => {
  const sent = { ...received, asset: COIN, counterparty: TILL, isOut: true }
  const swap: ImportRow = { ...importRowOf(received), kind: 'swap', movements: [sent, received] }
  expect(await labelOf(swap, 'counterparty,token,type', `${SHOP},USDC,Trade`)).toBe('Trade')
  expect(await labelOf(swap, 'counterparty,token,type', `${TILL},USDC,Trade`)).toBeUndefined()
  expect(await labelOf(swap, 'token,direction,type', 'USDC,in,Trade')).toBeUndefined()
})

test('the first column in which lines differ decides, an exact cell precedes a wildcard, then the first line counts', async () => {
  const header = 'match,counterparty,method,token,wallet,direction,from,until,type'
  const ascending = [
    ',,,,,in,2024-01-01,,A',
    ',,,,Till,,,,B',
    ',,,USDC,,,,,C',
    ',,,USDC,Till,,,,D',
    ',,pay*,,,,,,E',
    ',,pay(uint256),,,,,,F',
    ',*,pay(uint256),USDC,Till,in,,,G',
    `${SHOP},,,,,,,,H`,
    `${HASH},,,,,,,,I`,
  ]
  for (const [at, type] of [...'ABCDEFGHI'].entries()) {
    const lines = ascending.slice(0, at + 1)
    expect(await labelOf(received, header, ...lines)).toBe(type)
    expect(await labelOf(received, header, ...lines.toReversed())).toBe(type)
  }
  expect(await labelOf(received, 'token,type', 'USD*,first', 'US*,second')).toBe('first')
})

test('a type with a spelling mistake is refused with the one that was probably meant', async () => {
  const file = fileOf('match,type', `${SHOP},Incmoe`)
  await expect(readLabels(file, programTypes([bittytax]))).rejects.toMatchObject({
    message: expect.stringContaining(':2: found type Incmoe (did you mean Income?), expected '),
  })
})

test('a line with direction has to have a type for amounts of that direction', async () => {
  const file = fileOf('counterparty,direction,type', `${SHOP},out,Income`)
  await expect(readLabels(file, programTypes([bittytax]))).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringMatching(
      /:2: found type Income with direction out, expected a type for sent amounts: Charity-Sent, /,
    ),
  })
})

test('describes the conditions of a line that matches nothing', async () => {
  const { findings } = await readLabels(fileOf('token,direction,type', 'USDC,in,Gift'), anyText)
  expect(findings().unmatched?.first).toEqual({ line: 2, match: 'token USDC, direction in' })
})

test.for([
  {
    lines: ['match,symbol,type', `${HASH},USDC,Gift`],
    says: ':1: found column symbol, expected match, transaction',
  },
  { lines: ['match', HASH], says: ':1: found no column type' },
  {
    lines: ['match,token,type', ', ,Gift'],
    says: ':2: found no condition, expected a cell in one of match, transaction',
  },
  {
    lines: ['transaction,type', '0x11*,Gift'],
    says: ':2: found transaction 0x11*, expected a complete hash',
  },
  {
    lines: ['transaction,type', `${SHOP},Gift`],
    says: `:2: found transaction ${SHOP}, expected a complete hash`,
  },
  {
    lines: ['counterparty,type', '0xbb*,Gift'],
    says: ':2: found counterparty 0xbb*, expected a complete address',
  },
  { lines: ['token,type', '0x1,Gift'], says: ':2: found token 0x1, expected a complete address' },
  { lines: ['wallet,type', '0X*,Gift'], says: ':2: found wallet 0X*, expected a complete address' },
  { lines: ['token,direction,type', 'USDC,swap,Gift'], says: ':2: found direction swap, expected in or out' },
  { lines: ['from,type', '31.12.2024,Gift'], says: ':2: found from 31.12.2024, expected a UTC day' },
  { lines: ['until,type', '2024-02-30,Gift'], says: ':2: found until 2024-02-30, expected a UTC day' },
  {
    lines: ['from,until,type', '2024-02-02,2024-02-01,Gift'],
    says: ':2: found from 2024-02-02 until 2024-02-01',
  },
  {
    lines: ['match,counterparty,type', `${SHOP},${TILL},Gift`],
    says: ':2: found both match and counterparty',
  },
  {
    lines: ['token,direction,type', 'USDC,in,Gift', 'usdc,in,Income'],
    says: ':3: found type Income for token usdc, direction in, which has Gift from line 2',
  },
])('rejects $lines with the line', async ({ lines, says }) => {
  const file = fileOf(...lines)
  await expect(readLabels(file, anyText)).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(`${file}${says}`),
  })
})
