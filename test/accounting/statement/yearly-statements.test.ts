import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  openYearStatements,
  statement,
  type YearStatement,
} from '../../../src/accounting/statement/statement.ts'
import { MOVEMENT_COLUMNS } from '../../../src/accounting/transactions.ts'
import { type Balance, balances } from '../../../src/ledger/balances/balances.ts'
import { openDataset } from '../../../src/read/dataset.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { GOLDEN_CHAIN, GOLDEN_PRICES, WALLETS } from '../golden-chain.ts'
import { exportMadeUp } from '../made-up-export.ts'

const folder = suiteFolder()
const output = join(folder, 'made-up')

/** Of the made-up chain. The year after has no rows. */
const YEARS = { first: 2023, last: 2025 }

test('the statements of all years are those of each year, and tie to the balances at its ends', async () => {
  await exportMadeUp(output, GOLDEN_CHAIN)
  const [prices, opening] = [join(folder, 'prices.csv'), join(folder, 'opening.csv')]
  writeFileSync(prices, GOLDEN_PRICES)
  writeFileSync(
    opening,
    `wallet_address,asset_type,asset_address,token_id,value\n${WALLETS[1]?.address},native,,,7000000000000000000\n`,
  )
  const options = { prices, opening }
  const years: YearStatement[] = []
  const opened = await openDataset(output)
  const onYear = (year: YearStatement) => years.push(year)
  const statements = await openYearStatements(opened, { output, ...options, first: YEARS.first, onYear })
  for await (const rows of opened.stream('ledger', MOVEMENT_COLUMNS)) rows.forEach(statements.add)
  statements.close(YEARS.last)
  await opened.close()
  expect(years.length).toBeGreaterThan(1)
  let before = await valuesAt(`${Number(years[0]?.year) - 1}-12-31`, opening)
  for (const { year, lines, currency } of years) {
    const { lines: expected, currency: expectedCurrency } = await statement([output], { year, ...options })
    expect({ year, lines, currency }).toEqual({ year, lines: expected, currency: expectedCurrency })
    const after = await valuesAt(`${year}-12-31`, opening)
    expect([year, valuesOf(lines, ({ amounts }) => amounts.opening)]).toEqual([year, before])
    expect([year, valuesOf(lines, ({ amounts }) => amounts.closing)]).toEqual([year, after])
    before = after
  }
  const { balances: all, belowZero, flagged } = await balances(output, { opening, all: true })
  expect(years.at(-1)).toMatchObject({ balances: all, belowZero, flagged })
})

type Key = Pick<Balance, 'wallet_address' | 'asset_type' | 'asset_address' | 'token_id'>

/** Values other than zero by wallet and asset. */
const valuesOf = <T extends Key>(all: readonly T[], value: (one: T) => bigint) =>
  new Map(
    all
      .filter((one) => value(one) !== 0n)
      .map((one) => [
        [one.wallet_address, one.asset_type, one.asset_address, one.token_id].join(' '),
        value(one),
      ]),
  )

const valuesAt = async (at: string, opening: string) =>
  valuesOf((await balances(output, { at, opening })).balances, ({ value }) => value)
