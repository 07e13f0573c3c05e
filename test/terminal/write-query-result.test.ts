import { expect, test } from 'vitest'
import {
  type PrintableResult,
  type ResultFormat,
  writeQueryResult,
} from '../../src/terminal/write-query-result.ts'

const resultWith = (count: number): PrintableResult => ({
  columns: [{ name: 'n', isNumber: true }],
  batches: (async function* () {
    for (let from = 0; from < count; from += 3_000)
      yield Array.from({ length: Math.min(3_000, count - from) }, (_, at) => [from + at])
  })(),
})

async function write(count: number, format: ResultFormat, maxRows?: number): Promise<string> {
  const texts: string[] = []
  await writeQueryResult(resultWith(count), format, { write: (some) => void texts.push(some), maxRows })
  return texts.join('')
}

test('a table shows at most maxRows rows and counts the others', async () => {
  const lines = (await write(10_000, 'table', 100)).trimEnd().split('\n')
  expect(lines).toHaveLength(2 + 100 + 1)
  expect(lines.at(-2)?.trim()).toBe('99')
  expect(lines.at(-1)).toBe('… and 9,900 more rows (--max-rows 10000 shows all)')
})

test.for([100, undefined])('a table with maxRows %s shows a hundred rows', async (maxRows) => {
  expect((await write(100, 'table', maxRows)).trimEnd().split('\n')).toHaveLength(2 + 100)
})

test('an empty table states that it has 0 rows', async () => {
  expect(await write(0, 'table')).toBe('n\n─\n0 rows\n')
})

test.for([
  ['csv', 'n\n', 5_001],
  ['json', '[]\n', 5_002],
] as const)('%s has all rows, and no lines for rows if there are none', async ([format, empty, lines]) => {
  expect(await write(0, format, 100)).toBe(empty)
  expect((await write(5_000, format, 100)).trimEnd().split('\n')).toHaveLength(lines)
})
