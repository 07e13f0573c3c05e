import { expect, test } from 'vitest'
import { createRowFilter } from '../../../src/html-report/page/filter-rows.ts'

const ROWS = [
  ['fee', 'out', '0xfee0000000000000000000000000000000000001', 'Savings'],
  ['transfer', 'in', '0xabcfee0000000000000000000000000000000002', 'The shop'],
  [
    'transfer',
    'out',
    '0x1230000000000000000000000000000000000003',
    'Coffee 0xdecade0000000000000000000000000000000004',
  ],
] as const
const columns = [0, 1, 2, 3].map((at) => ({ texts: ROWS.map((row) => row[at] ?? ''), indexes: [0, 1, 2] }))

function found(search: string): number[] {
  const find = createRowFilter(columns, { search, kinds: [0, 1] })
  return [0, 1, 2].filter(find)
}

test.for([
  ['fee', [0]],
  ['FEES', [0]],
  ['out', [0, 2]],
  ['transfer out', [2]],
  ['shop', [1]],
  ['the SHOP', [1]],
  ['coff', [2]],
  ['decade', []],
  ['0xdecade', [2]],
  ['abcfee', []],
  ['0xabcfee', [1]],
  ['0003', [2]],
  ['abcfee00', [1]],
  ['savings transfer', []],
] as const)('the search %s finds the rows %j', ([search, rows]) => {
  expect(found(search)).toEqual(rows)
})
