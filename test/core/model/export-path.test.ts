import { sep } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  isExportPath,
  isRunReportPath,
  isSafePath,
  resolveInside,
} from '../../../src/core/model/export-path.ts'
import { TABLE_NAMES } from '../../../src/core/table/index.ts'
import { newRunId } from '../../../src/export/run.ts'
import { createPartitioner, partPath } from '../../../src/files/part-path.ts'
import { HOSTILE_PATHS } from '../../helpers/hostile-paths.ts'

test.for(HOSTILE_PATHS)('a manifest may not list %j', (path) => {
  expect(isExportPath(path)).toBe(false)
})

test.for([
  'ledger/ledger-000000000000-000000000421-0000.csv',
  'ledger/day=2023-11-14/ledger-000000000000-000000000421-0000.parquet',
  'changes/000001-000000000000-000000000421.ndjson',
  'raw/0xabc.ndjson.gz',
])('a manifest may list %s', (path) => {
  expect(isExportPath(path)).toBe(true)
})

test('any text that is accepted as a safe path resolves inside its folder', () => {
  const piece = fc.oneof(
    fc.constantFrom('..', '.', '/', '\\', '%2e', '\0', 'ledger', 'a=b', '\n', 'é', ' '),
    fc.string({ unit: 'binary', maxLength: 4 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const path = pieces.join('')
      const resolve = () => resolveInside('/output', path)
      if (isSafePath(path)) expect(resolve().split(sep)).toEqual(['', 'output', ...path.split('/')])
      else expect(resolve).toThrow(/not a path inside/)
    }),
  )
})

test('a manifest may list every path that this program writes', () => {
  const block = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER - 2 ** 32 })
  const partitionBy = fc.constantFrom('day', 'month', 'blocks:1', 'blocks:100000', undefined)
  const part = fc.record({
    table: fc.constantFrom(...TABLE_NAMES),
    format: fc.constantFrom('csv' as const, 'parquet' as const),
    compression: fc.constantFrom('none' as const, 'gzip' as const, 'zstd' as const),
    number: fc.nat(),
  })
  fc.assert(
    fc.property(part, partitionBy, block, fc.nat(), (given, by, from, timeMs) => {
      const partition = by === undefined ? undefined : createPartitioner(by as 'day')(from, timeMs * 100)
      const path = partPath({ ...given, partition, range: { from, to: from + 1 } })
      expect([path, isExportPath(path)]).toEqual([path, true])
    }),
  )
})

test('a run report path consists of runs/ and the run id only', () => {
  expect(isRunReportPath(`runs/${newRunId()}.json`)).toBe(true)
  const id = '20240506T070809Z-abcdef'
  for (const path of [
    `runs/../${id}.json`,
    `runs/../../${id}.json`,
    `runs/a/${id}.json`,
    `runs/${id}.json/x`,
  ])
    expect(isRunReportPath(path)).toBe(false)
  expect(isRunReportPath('runs/mine.json')).toBe(false)
})
