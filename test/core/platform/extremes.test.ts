import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { largest, smallest } from '../../../src/core/platform/extremes.ts'

const million = Array.from({ length: 1_000_000 }, (_, at) => (at * 7) % 1_000_003)

test('finds the largest and the smallest of a million numbers', () => {
  expect([largest(million), smallest(million)]).toEqual([1_000_002, 0])
  expect([largest([], 3), smallest([1], 0)]).toEqual([3, 0])
})

/** Files that spread short lists only: three sample windows, the columns of a statement. */
const SHORT = [
  'http/rate-limit/estimate-rate.ts',
  'read/exact-amounts.ts',
  'html-report/page/activity-list.ts',
]

test('no file spreads a list of unknown length into call arguments', () => {
  const root = join(import.meta.dirname, '../../../src')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  )
  const spreading = files.filter((path) =>
    /\b(?:push|unshift|append|replaceChildren|fromCharCode|Math\.max|Math\.min)\((?:[^(){}[\]]*, )?\.\.\./.test(
      readFileSync(join(root, path), 'utf8'),
    ),
  )
  expect(spreading.filter((path) => !SHORT.includes(path.replaceAll('\\', '/')))).toEqual([])
})
