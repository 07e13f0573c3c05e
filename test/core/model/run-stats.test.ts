import { expect, test } from 'vitest'
import { ExportError } from '../../../src/core/model/errors.ts'
import type { Manifest } from '../../../src/core/model/manifest.ts'
import {
  endRunStats,
  hasEnded,
  newRunStats,
  recordExport,
  recordSmallPages,
  recordWholeExport,
} from '../../../src/core/model/run-stats.ts'

test.for([
  { code: undefined, phase: 'done' },
  { code: 'INTERRUPTED', phase: 'stopped' },
  { code: 'TERMINATED', phase: 'stopped' },
  { code: 'BUDGET_REACHED', phase: 'stopped' },
  { code: 'REQUEST_REFUSED', phase: 'failed' },
] as const)('a job that ends with $code is $phase', ({ code, phase }) => {
  const stats = newRunStats(1, 0)
  expect(hasEnded(stats)).toBe(false)
  endRunStats(stats, code === undefined ? undefined : new ExportError(code, 'x'), 5)
  expect([stats.phase, hasEnded(stats)]).toEqual([phase, true])
  expect(stats.endedMs).toBe(5)
})

test('recordWholeExport counts all rows as written by the run, recordExport does not', () => {
  const manifest = {
    job: { kind: 'wallets' },
    coverage: [],
    rejects: 2,
    tables: { ledger: { rows: 7, columns: [], files: [{}, {}] } },
  } as unknown as Manifest
  const [some, all] = [newRunStats(1, 0), newRunStats(1, 0)]
  recordExport(some, manifest)
  recordWholeExport(all, manifest)
  expect(some).toMatchObject({ rows: {}, totalRows: { ledger: 7 }, files: 2, rejects: 2 })
  expect(all).toMatchObject({ rows: { ledger: 7 }, totalRows: { ledger: 7 }, files: 2, rejects: 2 })
})

test('the smallest page size of a listing is recorded, although it is read again with larger pages', () => {
  const stats = newRunStats(2, 0)
  for (const size of [undefined, 25, 50, undefined]) recordSmallPages(stats, '0xa', size)
  recordSmallPages(stats, '0xb', undefined)
  expect([...stats.smallPages]).toEqual([['0xa', 25]])
})
