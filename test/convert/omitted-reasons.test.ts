import { expect, test } from 'vitest'
import { JOURNALS } from '../../src/convert/journals/index.ts'
import { createJournalWriter } from '../../src/convert/journals/journal.ts'
import { lineOf } from '../../src/convert/lines.ts'
import { movement, token } from './made-up.ts'

test.for(
  JOURNALS.flatMap((form) => [
    { form, decimals: 256, reason: 'the token has more than 255 decimals' },
    { form, decimals: -1, reason: 'the decimals of the token are below zero' },
    { form, decimals: null, reason: 'the decimals of the token are unknown' },
  ]),
)('$form.name says of a token of $decimals decimals: $reason', ({ form, decimals, reason }) => {
  const reasons: string[] = []
  const writer = createJournalWriter({
    ...{ form, refuses: () => undefined, walletDigits: new Map() },
    onOmitted: (omitted) => reasons.push(omitted.reason),
  })
  const moved = movement({ asset: token('LONG', decimals), value: 1n })
  expect(writer.write([lineOf(moved, undefined)])).toBe('')
  expect(reasons).toEqual([reason])
})
