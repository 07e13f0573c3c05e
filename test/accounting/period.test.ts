import { expect, test } from 'vitest'
import { parsePeriod } from '../../src/accounting/options.ts'

test('includes a day from its first instant to its last', () => {
  expect(parsePeriod('2024-01-01', '2024-01-01')).toEqual({
    from: '2024-01-01T00:00:00.000Z',
    to: '2024-01-02T00:00:00.000Z',
  })
})

test('a period to the last day of 9999 is not empty', () => {
  const { to } = parsePeriod('2024-01-01', '9999-12-31')
  expect(to > '2024-01-01T00:00:00.000Z').toBe(true)
})

test.for([
  { from: '2024-01-01', until: '2023-01-01' },
  { from: '2024-01-01', until: '2024-01-01T00:00:00Z' },
  { from: '2024-01-01T12:00:01Z', until: '2024-01-01T12:00:00Z' },
])('rejects the empty period from $from until $until', ({ from, until }) => {
  expect(() => parsePeriod(from, until)).toThrow(
    expect.objectContaining({
      code: 'USAGE',
      message: `--from ${from} is not before --until ${until}`,
      fix: expect.stringContaining('Give the earlier one as --from'),
    }),
  )
})
