import { expect, test } from 'vitest'
import { ExportError } from '../../src/core/model/errors.ts'
import { createLog } from '../../src/terminal/log.ts'

test('each of several errors starts with the code, continuation lines do not', () => {
  const lines: string[] = []
  const log = createLog({ format: 'pretty', level: 'info', write: (line) => lines.push(line) })
  const message = [
    'a.yaml:1:8: chain: found "x y",',
    '  expected a chain id',
    'a.yaml:2:1: adress: found the key',
  ]
  log.failure(new ExportError('JOB_INVALID', message, { fix: 'Correct the lines named above.' }))
  expect(lines.join('\n').split('\n')).toEqual([
    'JOB_INVALID: a.yaml:1:8: chain: found "x y",',
    '  expected a chain id',
    'JOB_INVALID: a.yaml:2:1: adress: found the key',
    'fix: Correct the lines named above.',
  ])
})
