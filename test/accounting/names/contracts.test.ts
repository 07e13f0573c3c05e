import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { JOURNALS } from '../../../src/accounting/formats.ts'
import type { Asset } from '../../../src/accounting/movement.ts'
import { readContracts, withContract } from '../../../src/accounting/names/contracts.ts'
import { digitsToDistinguish, tickerName } from '../../../src/accounting/names/names.ts'
import { unescapedSql } from '../../../src/formats/column-sql.ts'
import type { Dataset } from '../../../src/read/dataset.ts'
import { openScratchDatabase, type ScratchDatabase } from '../../../src/read/scratch-database.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { token } from '../made-up.ts'

type LedgerRow = {
  block: number
  index?: number
  address: string | null
  symbol: string | null
  decimals?: string
  type?: string
  id?: string
}

let rows: ScratchDatabase

beforeAll(async () => {
  const output = join(suiteFolder(), 'out')
  mkdirSync(output)
  rows = await openScratchDatabase(output)
})
afterAll(() => rows.close())

/** Reads the contracts of a ledger that consists of several files. Cells are text, as in CSV. */
function contractsOf(...files: LedgerRow[][]) {
  const cell = (value: string | null) => (value === null ? 'NULL' : `'${value}'`)
  const sourceOf = (file: LedgerRow[]) => {
    const lines = file.map(
      ({ block, index = 0, address, symbol, decimals = null, type = 'erc20', id = null }) =>
        `('${block}', '${index}', ${cell(address)}, ${cell(symbol)}, ${cell(decimals)}, '${type}', ${cell(id)})`,
    )
    const columns =
      'block_number, transaction_index, asset_address, asset_symbol, asset_decimals, asset_type, token_id'
    return `(VALUES ${lines.join(', ')}) AS t(${columns})`
  }
  const collect: Dataset['collect'] = async (into, _, select) => {
    await rows.run(`CREATE OR REPLACE TABLE ${into}`)
    for (const file of files) await rows.run(`INSERT INTO ${into.split(' ', 1)} ${select(sourceOf(file))}`)
  }
  return readContracts({ ...rows, collect, textSql: unescapedSql } as unknown as Dataset)
}

const [FIRST, SECOND] = ['1', '2'].map((end) => `0x00000000${'f'.repeat(31)}${end}`) as [string, string]
const OTHER = `0x${'9'.repeat(40)}`
const erc20 = (address: string) => `erc20|${address}`

describe('the names of contracts', () => {
  test('keep the first symbol of a renamed token, regardless of the order of files and rows', async () => {
    const contracts = await contractsOf(
      [{ block: 9, index: 2, address: OTHER, symbol: 'MID' }],
      [
        { block: 12, address: OTHER, symbol: 'NEW' },
        { block: 9, index: 1, address: OTHER, symbol: 'OLD' },
        { block: 3, address: null, symbol: 'AVAX' },
      ],
    )
    expect([...contracts]).toEqual([[erc20(OTHER), { symbol: 'OLD', digits: '99999999', decimals: null }]])
  })

  test('distinguish contracts with the same first digits, regardless of the order of their rows', async () => {
    const dup = (address: string, block: number) => ({ block, address, symbol: 'DUP' })
    const digitsOf = async (...lines: LedgerRow[]) =>
      Object.fromEntries([...(await contractsOf(lines))].map(([key, { digits }]) => [key, digits]))
    const expected = { [erc20(FIRST)]: '00000000-fff1', [erc20(SECOND)]: '00000000-fff2' }
    expect(await digitsOf(dup(FIRST, 4), dup(SECOND, 5))).toEqual(expected)
    expect(await digitsOf(dup(FIRST, 5), dup(SECOND, 4))).toEqual(expected)
    expect(await digitsOf(dup(SECOND, 4))).toEqual({ [erc20(SECOND)]: '00000000' })
  })

  test('have all digits if the first and the last digits are the same', () => {
    const [one, two] = ['1', '2'].map((digit) => `0x00000000${digit.repeat(28)}ffff`) as [string, string]
    expect([...digitsToDistinguish([one, two, OTHER]).values()]).toEqual([
      one.slice(2),
      two.slice(2),
      '99999999',
    ])
  })

  test('distinguish tokens of several types of one contract', async () => {
    const contracts = await contractsOf([
      { block: 1, address: OTHER, symbol: 'BOTH' },
      { block: 1, address: OTHER, symbol: 'BOTH', type: 'erc721', id: '7' },
      { block: 2, address: OTHER, symbol: null, type: 'erc1155', id: '7' },
    ])
    const asset = { ...token('BOTH'), address: OTHER }
    const assets = [
      asset,
      { ...asset, type: 'erc721', tokenId: '7' },
      { ...asset, type: 'erc1155', tokenId: '7' },
    ]
    const named = assets.map((one) => withContract(one as Asset, contracts))
    expect(named.map(tickerName)).toEqual(['BOTH-99999999', 'BOTH-99999999-721#7', 'BOTH-99999999-1155#7'])
    const beancount = JOURNALS.find(({ name }) => name === 'beancount')
    expect(new Set(named.map((one) => beancount?.commodityOf(one))).size).toBe(3)
  })

  test("have the symbols of the chain, without the ' that CSV files add before formulas", async () => {
    const contracts = await contractsOf([{ block: 1, address: OTHER, symbol: "''@x" }])
    expect(contracts.get(erc20(OTHER))?.symbol).toBe('@x')
  })

  test('are used in every format', async () => {
    const two = { ...token('DUP'), address: SECOND, digits: '00000000-fff2' }
    expect(tickerName(two)).toBe('DUP-00000000-fff2')
    expect(JOURNALS.map(({ commodityOf }) => commodityOf(two))).toEqual([
      '"DUP-00000000-fff2"',
      '"DUP-00000000-fff2"',
      'DUP-00000000-FFF2',
    ])
  })
})

describe('the decimals of tokens', () => {
  test('are the largest of the rows, for rows of an ERC-20 token without decimals', async () => {
    const contracts = await contractsOf(
      [{ block: 5, address: OTHER, symbol: 'OTHER' }],
      [
        { block: 2, address: OTHER, symbol: 'OTHER', decimals: '3', type: 'erc1155' },
        { block: 4, address: OTHER, symbol: 'OTHER', decimals: '18' },
        { block: 3, address: OTHER, symbol: 'OTHER', decimals: '0' },
      ],
    )
    expect(contracts.get(erc20(OTHER))?.decimals).toBe(18)
    for (const decimals of [null, 0, 18])
      expect(withContract({ ...token('OTHER', decimals), address: OTHER }, contracts).decimals).toBe(18)
  })

  test('are the largest of the rows of an ERC-1155 token, also for opening balances', async () => {
    const row = { address: OTHER, symbol: null, type: 'erc1155' }
    const contracts = await contractsOf(
      [
        { ...row, block: 3, id: '1' },
        { ...row, block: 2, id: '1', decimals: '6' },
        { ...row, block: 1, id: '1', decimals: '2' },
      ],
      [
        { ...row, block: 4, id: '2', decimals: '9' },
        { ...row, block: 4, id: '3', decimals: '0' },
      ],
    )
    const [one, two, three] = ['1', '2', '3'].map((tokenId) => {
      const asset = { ...token('OTHER', 0), type: 'erc1155' as const, address: OTHER }
      return withContract({ ...asset, tokenId } as Asset, contracts).decimals
    })
    expect([one, two, three]).toEqual([6, 9, 0])
  })
})
