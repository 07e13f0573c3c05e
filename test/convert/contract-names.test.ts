import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tickerName } from '../../src/convert/asset-name.ts'
import { readContractNames } from '../../src/convert/contract-names.ts'
import { JOURNALS } from '../../src/convert/journal.ts'
import type { OpenedExport } from '../../src/read/open-export.ts'
import { openRows, type Rows } from '../../src/read/rows.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { token } from './made-up.ts'

type LedgerRow = { block: number; index?: number; address: string | null; symbol: string | null }

let rows: Rows

beforeAll(async () => {
  const output = join(suiteFolder(), 'out')
  mkdirSync(output)
  rows = await openRows(output)
})
afterAll(() => rows.close())

/** The names of a ledger whose rows lie in several files; cells are text, as in CSV. */
function namesOf(...files: LedgerRow[][]) {
  const cell = (value: string | null) => (value === null ? 'NULL' : `'${value}'`)
  const sourceOf = (file: LedgerRow[]) => {
    const lines = file.map(
      ({ block, index = 0, address, symbol }) =>
        `('${block}', '${index}', ${cell(address)}, ${cell(symbol)})`,
    )
    return `(VALUES ${lines.join(', ')}) AS t(block_number, transaction_index, asset_address, asset_symbol)`
  }
  const eachFile: OpenedExport['eachFile'] = async (_, statement) => {
    for (const file of files) await rows.run(statement(sourceOf(file)))
  }
  return readContractNames({ rows, eachFile } as OpenedExport)
}

const [FIRST, SECOND, THIRD] = ['1', '2', '3'].map((end) => `0x00000000${'f'.repeat(31)}${end}`) as [
  string,
  string,
  string,
]
const OTHER = `0x${'9'.repeat(40)}`

describe('the names of contracts', () => {
  test('keep the first symbol of a token that is renamed, wherever its rows lie', async () => {
    const names = await namesOf(
      [{ block: 9, index: 2, address: OTHER, symbol: 'MID' }],
      [
        { block: 12, address: OTHER, symbol: 'NEW' },
        { block: 9, index: 1, address: OTHER, symbol: 'OLD' },
        { block: 3, address: null, symbol: 'AVAX' },
      ],
    )
    expect([...names]).toEqual([[OTHER, { symbol: 'OLD', digits: '99999999' }]])
  })

  test('tell contracts apart that begin alike, the earlier one without a number', async () => {
    const names = await namesOf([
      { block: 5, address: SECOND, symbol: 'DUP' },
      { block: 4, address: THIRD, symbol: 'DUP' },
      { block: 5, address: FIRST, symbol: null },
    ])
    expect(Object.fromEntries(names)).toEqual({
      [THIRD]: { symbol: 'DUP', digits: '00000000' },
      [FIRST]: { symbol: null, digits: '00000000-2' },
      [SECOND]: { symbol: 'DUP', digits: '00000000-3' },
    })
    const later = await namesOf(
      [{ block: 4, address: THIRD, symbol: 'DUP' }],
      [{ block: 6, address: SECOND, symbol: 'DUP' }],
    )
    expect(later.get(THIRD)).toEqual(names.get(THIRD))
  })

  test('stand in every format', async () => {
    const two = { ...token('DUP'), address: SECOND, digits: '00000000-3' }
    expect(tickerName(two)).toBe('DUP-00000000-3')
    expect(JOURNALS.map(({ commodityOf }) => commodityOf(two))).toEqual([
      '"DUP-00000000-3"',
      '"DUP-00000000-3"',
      'DUP-00000000-3',
    ])
  })
})
