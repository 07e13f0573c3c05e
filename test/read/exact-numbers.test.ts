import { expect, test } from 'vitest'
import { withExactNumbers } from '../../src/read/exact-numbers.ts'
import { splitStatements, sqlTokens } from '../../src/read/sql-tokens.ts'

const exact = (sql: string) => withExactNumbers(sqlTokens(sql))

test.for([
  ['value > 1e18', 'value > 1000000000000000000'],
  ['-1.5E3', '-1500'],
  ['amount < 1.25e-3', 'amount < 0.00125'],
  ['x > 2.50e1', 'x > 25'],
  ['x > 1_0e1', 'x > 100'],
  [`x = ${2n ** 128n}`, `x = ('${2n ** 128n}'::BIGNUM)`],
  ['x = 5e39', `x = ('5${'0'.repeat(39)}'::BIGNUM)`],
] as const)('rewrites %s to %s', ([sql, written]) => {
  expect(exact(sql)).toBe(written)
})

test.for([
  `x = ${2n ** 128n - 1n}`,
  '\'1e18\' || "1e18" /* 1e18 */ || $$1e18$$ -- 1e18',
  'value / 1e18, value * 1e-18, 1e3 ^ 2',
  'x1e5, 0x1e5, 1.5, .5, 5., 1_000',
  '1e999999999999',
])('does not change %s', (sql) => {
  expect(exact(sql)).toBe(sql)
})

test('refuses a decimal that DuckDB would read as floating point', () => {
  const sql = `amount > 1.${'1'.repeat(40)}`
  expect(() => exact(sql)).toThrow(expect.objectContaining({ code: 'USAGE' }))
})

test('splits statements at semicolons outside strings, identifiers and comments', () => {
  const parts = ["select ';'", ' select ";" -- ;\n', ' select $a$;$a$ /* ; */', " select e'\\';'"]
  const statements = splitStatements(`${parts.join(';')};; `)
  expect(statements.map((tokens) => tokens.map(({ text }) => text).join(''))).toEqual(parts)
})
