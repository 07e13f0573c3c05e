import { expect, test } from 'vitest'
import { ExportError } from '../../src/core/errors.ts'
import { endFigures, hasEnded, newFigures } from '../../src/core/figures.ts'

test.for([
  { code: undefined, phase: 'done' },
  { code: 'INTERRUPTED', phase: 'stopped' },
  { code: 'TERMINATED', phase: 'stopped' },
  { code: 'BUDGET_REACHED', phase: 'stopped' },
  { code: 'REQUEST_REFUSED', phase: 'failed' },
] as const)('a job that ended with $code is $phase', ({ code, phase }) => {
  const figures = newFigures(1, 0)
  expect(hasEnded(figures)).toBe(false)
  endFigures(figures, code === undefined ? undefined : new ExportError(code, 'x'))
  expect([figures.phase, hasEnded(figures)]).toEqual([phase, true])
  expect(figures.endedMs).toBeGreaterThan(0)
})
