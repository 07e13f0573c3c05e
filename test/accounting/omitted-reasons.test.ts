import { expect, test } from 'vitest'
import { JOURNALS } from '../../src/accounting/formats.ts'
import { importRowOf } from '../../src/accounting/import-rows.ts'
import { createJournalWriter } from '../../src/accounting/journals/journal-writer.ts'
import { movement, token } from './made-up.ts'

test.for(
  JOURNALS.flatMap((format) => [
    { format, decimals: 256, reason: 'the token has more than 255 decimals' },
    { format, decimals: -1, reason: 'the decimals of the token are below zero' },
    { format, decimals: null, reason: 'the decimals of the token are unknown' },
  ]),
)('$format.name omits a token with $decimals decimals: $reason', ({ format, decimals, reason }) => {
  const reasons: string[] = []
  const writer = createJournalWriter({
    format,
    refusalReasonOf: () => undefined,
    walletDigits: new Map(),
    onOmitted: (omitted) => reasons.push(omitted.reason),
  })
  const moved = movement({ asset: token('LONG', decimals), value: 1n })
  expect(writer.write([importRowOf(moved, undefined)])).toBe('')
  expect(reasons).toEqual([reason])
})
