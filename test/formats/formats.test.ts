import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FORMAT_NAMES } from '../../src/core/model/model.ts'
import type { DataFile } from '../../src/formats/format.ts'
import { extensionPattern, FORMATS, hasEscapedText, selectSql, unsplitFile } from '../../src/formats/index.ts'

const SRC = join(import.meta.dirname, '..', '..', 'src')

test('no other folder branches on the name of a format', () => {
  const branching = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.startsWith('formats/'))
    .filter((path) => /(?:[!=]==|case) '(?:csv|parquet)'/.test(readFileSync(join(SRC, path), 'utf8')))
  expect(branching).toEqual([])
})

test('every format has its own extensions, and only gzip streams end in .gz', () => {
  const owners = new Map<string, string>()
  for (const name of FORMAT_NAMES) {
    for (const compression of FORMATS[name].compressions) {
      const extension = FORMATS[name].extension(compression)
      expect(owners.get(extension) ?? name).toBe(name)
      owners.set(extension, name)
      expect(extension.endsWith('.gz') && compression !== 'gzip').toBe(false)
    }
  }
})

test('the extension pattern matches exactly the extensions of the given formats', () => {
  const matches = (names: Parameters<typeof extensionPattern>[0], extension: string) =>
    new RegExp(`^${extensionPattern(names)}$`).test(extension)
  for (const extension of ['csv', 'csv.gz', 'parquet']) expect(matches(undefined, extension)).toBe(true)
  for (const extension of ['csvxgz', 'csv.gzip', 'txt', '']) expect(matches(undefined, extension)).toBe(false)
  expect(matches(['csv'], 'parquet')).toBe(false)
  expect(matches(['parquet'], 'csv')).toBe(false)
})

test('text is escaped in CSV files only, and by default', () => {
  expect(hasEscapedText({ format: 'csv' })).toBe(true)
  expect(hasEscapedText({ format: 'csv', escapeFormulas: false })).toBe(false)
  expect(hasEscapedText({ format: 'parquet', escapeFormulas: true })).toBe(false)
})

test('files of both compressions are selected in order, adjacent ones by one source', () => {
  const files = ['a.csv', 'b.csv', 'c.csv.gz', 'd.csv'].map((path, at): DataFile => {
    return { ...unsplitFile(path, 'csv'), maxRowBytes: (at + 1) * 1024 }
  })
  const sources = selectSql(files, ['"x"'], [{ name: 'x', type: 'VARCHAR' }]).split(' union all ')
  expect(sources.map((source) => /\[.*?\]/.exec(source)?.[0])).toEqual([
    "['a.csv', 'b.csv']",
    "['c.csv.gz']",
    "['d.csv']",
  ])
  expect(sources.map((source) => /compression = '(\w+)'/.exec(source)?.[1])).toEqual(['none', 'gzip', 'none'])
  expect(sources[0]).toContain('max_line_size = 2048')
})
