import { expect, test } from 'vitest'
import { type Diagnostic, mergeDiagnostics, openDiagnostics } from '../../src/job/diagnostics.ts'

const long: Diagnostic = {
  location: { file: 'jobs/mine.yaml', line: 12, column: 5 },
  field: 'addresses[7]',
  found: '"0x58A5"',
  expected: 'one of a list of words that goes on and on until no terminal of 80 columns can hold it any more',
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

test('prints a short diagnostic on one line', () => {
  expect(messageOf({ ...long, expected: 'an address', didYouMean: undefined })).toBe(
    'jobs/mine.yaml:12:5: addresses[7]: found "0x58A5", expected an address',
  )
})

test('breaks a long diagnostic before the expected value', () => {
  expect(messageOf({ ...long, expected: 'something of more than a few words' }).split('\n')).toEqual([
    'jobs/mine.yaml:12:5: addresses[7]: found "0x58A5",',
    '  expected something of more than a few words (did you mean "another"?)',
  ])
})

test('breaks a longer diagnostic between words, at 80 columns', () => {
  expect(messageOf(long).split('\n')).toEqual([
    'jobs/mine.yaml:12:5: addresses[7]: found "0x58A5", expected one of a list of',
    '  words that goes on and on until no terminal of 80 columns can hold it any more',
    '  (did you mean "another"?)',
  ])
})

test('breaks neither values nor text without spaces', () => {
  const found = `"${'x y '.repeat(30)}"`
  expect(messageOf({ ...long, found, expected: 'y'.repeat(100) }).split('\n')).toEqual([
    `jobs/mine.yaml:12:5: addresses[7]: found ${found},`,
    '  expected',
    `  ${'y'.repeat(100)}`,
    '  (did you mean "another"?)',
  ])
})

test('prints a note that several diagnostics share once', () => {
  const note = 'The fields are a and b.'
  expect(
    messageOf({ ...long, note }, { ...long, note })
      .split('\n')
      .filter((line) => line === note),
  ).toEqual([note])
})

test('prints a diagnostic that several jobs share once', () => {
  const [first, second] = [messageOf(long).split('\n'), messageOf({ ...long, field: 'chain' }).split('\n')]
  expect(mergeDiagnostics([[...first, ...second], first])).toEqual([...first, ...second])
})
