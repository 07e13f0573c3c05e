import { expect, test } from 'vitest'
import { unreadableFileError } from '../../src/read/open-export.ts'

test('a permission error is not reported as damage', () => {
  const why = 'IO Error: Cannot open file "ledger.csv": Permission denied'
  expect(unreadableFileError('ledger.csv', why)).toMatchObject({
    code: 'OUTPUT_FAILED',
    fix: 'Check the permissions of the path, then run again.',
  })
  expect(unreadableFileError('ledger.csv', 'Invalid Input Error: CSV Error on Line: 7')).toMatchObject({
    code: 'VERIFY_FAILED',
  })
})
