import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { statement } from '../../../src/accounting/statement/statement.ts'
import { statementsByYear, type YearStatement } from '../../../src/accounting/statement/yearly-statements.ts'
import { balances } from '../../../src/ledger/balances/balances.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { GOLDEN_CHAIN, GOLDEN_PRICES, WALLETS } from '../golden-chain.ts'
import { exportMadeUp } from '../made-up-export.ts'

const folder = suiteFolder()
const output = join(folder, 'made-up')

test('the statements of all years are those that `statement` returns for each year', async () => {
  await exportMadeUp(output, GOLDEN_CHAIN)
  const [prices, opening] = [join(folder, 'prices.csv'), join(folder, 'opening.csv')]
  writeFileSync(prices, GOLDEN_PRICES)
  writeFileSync(
    opening,
    `wallet_address,asset_type,asset_address,token_id,value\n${WALLETS[1]?.address},native,,,7000000000000000000\n`,
  )
  const options = { prices, opening }
  const years: YearStatement[] = []
  for await (const one of statementsByYear(output, options)) years.push(one)
  expect(years.length).toBeGreaterThan(1)
  for (const { year, lines, currency } of years) {
    const { lines: expected, currency: expectedCurrency } = await statement([output], { year, ...options })
    expect({ year, lines, currency }).toEqual({ year, lines: expected, currency: expectedCurrency })
  }
  const { balances: all, belowZero, flagged } = await balances(output, { opening, all: true })
  expect(years.at(-1)).toMatchObject({ balances: all, belowZero, flagged })
})
