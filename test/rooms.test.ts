import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const SRC = join(import.meta.dirname, '..', 'src')
const SHELF = [
  'model',
  'errors',
  'disk',
  'follow-signal',
  'item-key',
  'block-ranges',
  'manifest',
  'figures',
  'version',
  'listings',
  'v8',
]
const COMPOSERS = [
  ...['run', 'export-job', 'earlier-export', 'inspect-job', 'index', 'bin'],
  ...['crawl', 'crawl-job', 'run-readers'],
  ...[
    'write-output',
    'early-tables',
    'slicer',
    'settle-moved',
    'rejects',
    'write-slice',
    'write-task',
    'write-pool',
    'write-thread',
    'write-worker',
  ],
  'load-into',
  'compact-output',
  ...['open-asker', 'open-demo', 'open-places'],
  'rows',
  ...['open-export', 'open-service', 'audit-output', 'reindex-output', 'watch-job', 'job-webhooks'],
]
/**
 * DuckDB writes Parquet in one room and, so that a check owes the writer nothing, reads it back in another; in a third it
 * is a database that rows are loaded into, and the reader of files for databases that cannot read them.
 */
const SHARED_PACKAGES: Record<string, readonly string[]> = { '@duckdb/node-api': ['load', 'verify', 'write'] }

const IMPORT = /(?:^|[;\s}])(?:from|import)\s*\(?\s*(['"])([^'"\n]+)\1/g

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => normalize(path))
  .sort()

const textOf = (file: string) => readFileSync(join(SRC, file), 'utf8')
const importsOf = (file: string) => [...textOf(file).matchAll(IMPORT)].map(([, , name = '']) => name)
const internalsOf = (file: string) =>
  importsOf(file)
    .filter((name) => name.startsWith('.'))
    .map((name) => normalize(join(dirname(file), name)))

const roomOf = (file: string) => (file.includes('/') ? (file.split('/')[0] ?? '') : '')
const stem = (file: string) => file.replace(/\.ts$/, '')
const isShelf = (file: string) => roomOf(file) === 'table' || SHELF.includes(file.replace(/\.ts$/, ''))
const isComposer = (file: string) => roomOf(file) === 'cli' || COMPOSERS.includes(stem(file))

test('every file belongs to a room, the shelf or the composers', () => {
  const loose = files.filter((file) => roomOf(file) === '' && !isShelf(file) && !isComposer(file))
  expect(loose).toEqual([])
  expect(files.length).toBeGreaterThan(80)
})

test('every relative import names a file that is there', () => {
  const broken = files.flatMap((file) =>
    internalsOf(file)
      .filter((target) => !files.includes(target))
      .map((target) => `${file} → ${target}`),
  )
  expect(broken).toEqual([])
})

test('a room imports itself and the shelf only', () => {
  const strays = files.filter((file) => !isComposer(file)).flatMap((file) => straysOf(file))
  expect(strays).toEqual([])
})

function straysOf(file: string): string[] {
  return internalsOf(file)
    .filter((target) => !isShelf(target) && (isShelf(file) || roomOf(target) !== roomOf(file)))
    .map((target) => `${file} → ${target}`)
}

test('no import leads back to where it began, types included', () => {
  const done = new Set<string>()
  const walk = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return [[...path.slice(path.indexOf(file)), file].join(' → ')]
    if (done.has(file)) return []
    const cycles = internalsOf(file).flatMap((target) => walk(target, [...path, file]))
    done.add(file)
    return cycles
  }
  expect(files.flatMap((file) => walk(file, []))).toEqual([])
})

test('each third-party package is imported from one room only', () => {
  const rooms = new Map<string, Set<string>>()
  for (const file of files) {
    for (const name of importsOf(file).filter(isThirdParty)) {
      const importers = rooms.get(packageOf(name)) ?? new Set()
      rooms.set(packageOf(name), importers.add(roomOf(file) || file))
    }
  }
  const shared = [...rooms].filter(([, importers]) => importers.size > 1)
  expect(Object.fromEntries(shared.map(([name, importers]) => [name, [...importers].sort()]))).toEqual(
    SHARED_PACKAGES,
  )
  expect([...rooms.keys()]).toContain('undici')
})

const isThirdParty = (name: string) =>
  !name.startsWith('.') && !name.startsWith('node:') && !builtinModules.includes(name)

const packageOf = (name: string) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')

test('no file is longer than 250 lines', () => {
  const long = files.filter((file) => textOf(file).split('\n').length > 251)
  expect(long).toEqual([])
})
