import { expect, test } from 'vitest'
import { type Diagnostic, openDiagnostics } from '../../src/job/diagnostics.ts'

const long: Diagnostic = {
  location: { file: 'jobs/mine.yaml', line: 12, column: 5 },
  field: 'addresses[7]',
  found: '"0x58A5"',
  expected: 'one of a list of words that goes on and on until no terminal can hold it any more',
  didYouMean: 'another',
}

function messageOf(...diagnostics: Diagnostic[]): string {
  const { report, throwIfAny } = openDiagnostics()
  for (const diagnostic of diagnostics) report(diagnostic)
  try {
    throwIfAny()
  } catch (thrown) {
    return (thrown as Error).message
  }
  return ''
}

test('prints a diagnostic on one line, however long it is', () => {
  expect(messageOf(long)).toBe(
    `jobs/mine.yaml:12:5: addresses[7]: found "0x58A5", expected ${long.expected} (did you mean "another"?)`,
  )
})

test('prints a note that several diagnostics share once', () => {
  const note = 'The fields are a and b.'
  expect(
    messageOf({ ...long, note }, { ...long, note })
      .split('\n')
      .filter((line) => line === note),
  ).toEqual([note])
})
