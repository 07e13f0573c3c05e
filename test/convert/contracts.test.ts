import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tickerName } from '../../src/convert/asset-name.ts'
import { readContracts } from '../../src/convert/contracts.ts'
import { JOURNALS } from '../../src/convert/journals/index.ts'
import type { OpenedExport } from '../../src/read/open-export.ts'
import { openRows, type Rows } from '../../src/read/rows.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { token } from './made-up.ts'

type LedgerRow = {
  block: number
  index?: number
  address: string | null
  symbol: string | null
  decimals?: string
  type?: string
}

let rows: Rows

beforeAll(async () => {
  const output = join(suiteFolder(), 'out')
  mkdirSync(output)
  rows = await openRows(output)
})
afterAll(() => rows.close())

/** The contracts of a ledger whose rows lie in several files; cells are text, as in CSV. */
function contractsOf(...files: LedgerRow[][]) {
  const cell = (value: string | null) => (value === null ? 'NULL' : `'${value}'`)
  const sourceOf = (file: LedgerRow[]) => {
    const lines = file.map(
      ({ block, index = 0, address, symbol, decimals = null, type = 'erc20' }) =>
        `('${block}', '${index}', ${cell(address)}, ${cell(symbol)}, ${cell(decimals)}, '${type}')`,
    )
    const columns = 'block_number, transaction_index, asset_address, asset_symbol, asset_decimals, asset_type'
    return `(VALUES ${lines.join(', ')}) AS t(${columns})`
  }
  const eachFile: OpenedExport['eachFile'] = async (_, statement) => {
    for (const file of files) await rows.run(statement(sourceOf(file)))
  }
  return readContracts({ rows, eachFile } as OpenedExport)
}

const [FIRST, SECOND, THIRD] = ['1', '2', '3'].map((end) => `0x00000000${'f'.repeat(31)}${end}`) as [
  string,
  string,
  string,
]
const OTHER = `0x${'9'.repeat(40)}`

describe('the names of contracts', () => {
  test('keep the first symbol of a token that is renamed, wherever its rows lie', async () => {
    const contracts = await contractsOf(
      [{ block: 9, index: 2, address: OTHER, symbol: 'MID' }],
      [
        { block: 12, address: OTHER, symbol: 'NEW' },
        { block: 9, index: 1, address: OTHER, symbol: 'OLD' },
        { block: 3, address: null, symbol: 'AVAX' },
      ],
    )
    expect([...contracts]).toEqual([[OTHER, { symbol: 'OLD', digits: '99999999', decimals: null }]])
  })

  test('tell contracts apart that begin alike, the earlier one without a number', async () => {
    const contracts = await contractsOf([
      { block: 5, address: SECOND, symbol: 'DUP' },
      { block: 4, address: THIRD, symbol: 'DUP' },
      { block: 5, address: FIRST, symbol: null },
    ])
    expect(Object.fromEntries(contracts)).toEqual({
      [THIRD]: { symbol: 'DUP', digits: '00000000', decimals: null },
      [FIRST]: { symbol: null, digits: '00000000-2', decimals: null },
      [SECOND]: { symbol: 'DUP', digits: '00000000-3', decimals: null },
    })
    const later = await contractsOf(
      [{ block: 4, address: THIRD, symbol: 'DUP' }],
      [{ block: 6, address: SECOND, symbol: 'DUP' }],
    )
    expect(later.get(THIRD)).toEqual(contracts.get(THIRD))
  })

  test('come with the first decimals that an ERC-20 token has', async () => {
    const contracts = await contractsOf(
      [
        { block: 1, address: OTHER, symbol: 'OTHER' },
        { block: 2, address: OTHER, symbol: 'OTHER', decimals: '3', type: 'erc1155' },
        { block: 3, address: OTHER, symbol: 'OTHER', decimals: '6' },
      ],
      [{ block: 4, address: OTHER, symbol: 'OTHER', decimals: '18' }],
    )
    expect(contracts.get(OTHER)?.decimals).toBe(6)
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
