import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openDataset, unreadableFileError } from '../../src/read/dataset.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { type Cells, goodLake } from '../verify/export/model-export.ts'
import { writeLake } from '../verify/export/write-model-export.ts'

const folder = suiteFolder()

test('a permission error is not reported as damage', () => {
  const why = 'IO Error: Cannot open file "ledger.csv": Permission denied'
  expect(unreadableFileError('ledger.csv', why)).toMatchObject({
    code: 'OUTPUT_FAILED',
    fix: 'Check the permissions of the path, then run again.',
  })
  expect(unreadableFileError('ledger.csv', 'Invalid Input Error: CSV Error on Line: 7')).toMatchObject({
    code: 'VERIFY_FAILED',
  })
})

describe('a loaded table', () => {
  test.for(['csv', 'parquet'] as const)('has the values of %s files', async (format) => {
    const output = join(folder, format)
    const lake = goodLake()
    const entry = lake.ledger[0] as Cells
    const max = String(2n ** 256n - 1n)
    lake.ledger = [max, `-${max}`, '1'].map((value, at) => ({
      ...entry,
      entry_id: `${at}`,
      asset_symbol: '=A1',
      value,
    }))
    await writeLake(output, lake, { ending: format })
    const dataset = await openDataset(output)
    try {
      await dataset.load('ledger', ['asset_symbol', 'value'])
      expect(
        await dataset.all('SELECT sum(value)::VARCHAR AS sum, any_value(asset_symbol) AS symbol FROM ledger'),
      ).toEqual([{ sum: '1', symbol: '=A1' }])
      await dataset.load('ledger', ['block_number', 'value'])
      expect(
        await dataset.all('SELECT typeof(block_number) AS type, asset_symbol, rowid FROM ledger LIMIT 1'),
      ).toEqual([{ type: 'BIGINT', asset_symbol: '=A1', rowid: 0n }])
    } finally {
      await dataset.close()
    }
  })

  test('restates values of a token with several decimals in the largest', async () => {
    const output = join(folder, 'decimals')
    const lake = goodLake()
    const entry = { ...(lake.ledger[0] as Cells), asset_type: 'erc20', asset_address: `0x${'7'.repeat(40)}` }
    lake.ledger = ['6', '8', ''].map((asset_decimals, at) => ({
      ...entry,
      entry_id: `${at}`,
      value: '5',
      asset_decimals,
    }))
    await writeLake(output, lake)
    const dataset = await openDataset(output)
    try {
      await dataset.load('ledger', ['asset_address', 'token_id', 'asset_decimals', 'value'])
      const rows = await dataset.all(
        'SELECT value::VARCHAR AS value, asset_decimals FROM ledger ORDER BY rowid',
      )
      expect(rows).toEqual([
        { value: '500', asset_decimals: 8 },
        { value: '5', asset_decimals: 8 },
        { value: '5', asset_decimals: null },
      ])
    } finally {
      await dataset.close()
    }
  })
})
