import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { beforeAll, expect, test } from 'vitest'
import { convert } from '../../src/accounting/convert.ts'
import { report } from '../../src/html-report/report.ts'
import { balances } from '../../src/ledger/balances/balances.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { tableOf } from '../html-report/read-page.ts'
import { LOST_METADATA } from './golden-chain.ts'
import { exportMadeUp } from './made-up-export.ts'

// The decimals of a token do not change, so a row without metadata can use those of the other rows.
const output = join(suiteFolder(), 'lost')

beforeAll(() => exportMadeUp(output, LOST_METADATA))

test('conversions take the decimals of a token from its other rows', async () => {
  let text = ''
  const converted = await convert(output, {
    to: 'generic',
    write: (chunk: string) => {
      text += chunk
    },
  })
  const lines: Record<string, string>[] = parse(text, { columns: true })
  expect(lines.map(({ received_amount, received_asset }) => `${received_amount} ${received_asset}`)).toEqual([
    '5 USDC-cccccccc',
    '7 USDC-cccccccc',
    '0.000001 USDC-cccccccc',
  ])
  expect(converted.omitted).toEqual({ 'the decimals of the token are unknown': 1 })
})

test('balances take the symbol and the decimals of a token from its other rows', async () => {
  const { balances: found } = await balances(output)
  expect(found.map(({ asset_symbol, value, amount }) => [asset_symbol, value, amount])).toEqual([
    ['USDC', 12_000_000n, '12'],
    [null, 1n, null],
    ['USDC', 1n, '0.000001'],
  ])
})

test('a report takes the symbol and the decimals of a token from its other rows', async () => {
  const { file } = await report([output])
  const held = tableOf(readFileSync(file, 'utf8'), 'Holdings')
  expect(held.find(([name]) => name?.startsWith('USDC'))?.[1]).toBe('12.000001')
})
