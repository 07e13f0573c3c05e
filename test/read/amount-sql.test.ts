import { tmpdir } from 'node:os'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { amountSql, productSql } from '../../src/read/amount-sql.ts'
import { openScratchDatabase, type ScratchDatabase } from '../../src/read/scratch-database.ts'

const INT64 = 2n ** 63n - 1n
const U256 = 2n ** 256n - 1n
let rows: ScratchDatabase
beforeAll(async () => {
  rows = await openScratchDatabase(tmpdir())
})
afterAll(() => rows.close())

async function product(factor: bigint, digits: bigint): Promise<unknown> {
  const { carries, product } = productSql('a', 'b')
  const cells = `SELECT ${factor}::BIGINT AS a, '${digits}' AS b`
  const [found] = await rows.all(`SELECT ${product} AS p FROM (SELECT *, ${carries} FROM (${cells}))`)
  return found?.p
}

async function amount(value: bigint, decimals: number): Promise<unknown> {
  const cells = `SELECT '${value}' AS v, ${decimals}::INTEGER AS d`
  const [found] = await rows.all(`SELECT ${amountSql('v', 'd')} AS a FROM (${cells})`)
  return found?.a
}

test.for([
  [0n, 0n],
  [0n, U256],
  [1n, 10n ** 18n],
  [INT64, 10n ** 18n - 1n],
  [INT64, U256],
] as const)('multiplies %s by %s exactly', async ([factor, digits]) => {
  expect(await product(factor, digits)).toBe(String(factor * digits))
})

test('multiplies any gas by any price exactly', async () => {
  const law = fc.asyncProperty(fc.bigInt(0n, INT64), fc.bigInt(0n, U256), async (factor, digits) => {
    expect(await product(factor, digits)).toBe(String(factor * digits))
  })
  await fc.assert(law, { numRuns: 100 })
})

test('moves the decimal point of any value without losing digits', async () => {
  const law = fc.asyncProperty(
    fc.bigInt(-U256, U256),
    fc.integer({ min: 0, max: 255 }),
    async (value, decimals) => {
      const text = String(await amount(value, decimals))
      expect(text).toMatch(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/)
      const [whole = '', fraction = ''] = text.replace('-', '').split('.')
      const back = BigInt(whole + fraction.padEnd(decimals, '0'))
      expect(text.startsWith('-') ? -back : back).toBe(value)
    },
  )
  await fc.assert(law, { numRuns: 100 })
})

test.for([-1, 256, 2_147_483_647])('returns null for %s decimals', async (decimals) => {
  expect(await amount(5n, decimals)).toBeNull()
})
