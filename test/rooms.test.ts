import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const SRC = join(import.meta.dirname, '..', 'src')
/** From the top down: a room imports rooms of lower floors, and of its own floor those that NEIGHBOURS allows. */
const FLOORS = [
  ['bin', 'index'],
  ['cli'],
  [
    'audit',
    'balances',
    'cluster',
    'compact',
    'convert',
    'load',
    'reindex',
    'reports',
    'run',
    'verify',
    'watch',
  ],
  ['assemble', 'crawl'],
  [
    'client',
    'flatten',
    'job',
    'merge',
    'notify',
    'prices',
    'read',
    'report',
    'service',
    'spool',
    'sql',
    'write',
  ],
  ['store'],
  ['core'],
]
/**
 * A watch starts runs; notifications are sent by HTTP; a conversion leaves out what balances call spam, a report shows it; a client starts the embedded service
 * for jobs that name it; prices read a user's file, and which assets an export has.
 */
const NEIGHBOURS: Record<string, readonly string[]> = {
  watch: ['run'],
  cluster: ['run'],
  convert: ['balances'],
  reports: ['balances'],
  client: ['service'],
  notify: ['client'],
  prices: ['flatten', 'read'],
}
/** The embedded service is a program of its own. */
const LONERS = ['service']
/**
 * DuckDB writes Parquet in one room and, so that a check owes the writer nothing, reads it back in another; in a third it
 * is a database that rows are loaded into, and the reader of files for databases that cannot read them. Manifests and
 * entries of a queue are each checked against a schema where they are read.
 */
const SHARED_PACKAGES: Record<string, readonly string[]> = {
  '@duckdb/node-api': ['load', 'read', 'write'],
  valibot: ['cluster', 'core'],
}

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

const roomOf = (file: string) => file.split('/')[0]?.replace(/\.ts$/, '') ?? ''
const floorOf = (room: string) => FLOORS.findIndex((rooms) => rooms.includes(room))

test('every file stands in a room, and every room on a floor', () => {
  expect([...new Set(files.map(roomOf))].sort()).toEqual(FLOORS.flat().sort())
  expect(files.filter((file) => !file.includes('/'))).toEqual(['bin.ts', 'index.ts'])
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

test('a room imports itself, lower floors and its named neighbours', () => {
  const strays = files.flatMap((file) =>
    internalsOf(file)
      .filter((target) => !mayImport(roomOf(file), roomOf(target)))
      .map((target) => `${file} → ${target}`),
  )
  expect(strays).toEqual([])
})

function mayImport(room: string, target: string): boolean {
  if (room === target || NEIGHBOURS[room]?.includes(target)) return true
  return LONERS.includes(room) ? target === 'core' : floorOf(target) > floorOf(room)
}

test('no room leads back to where it began', () => {
  const roomsFrom = (room: string) => [
    ...new Set(
      files
        .filter((file) => roomOf(file) === room)
        .flatMap((file) => internalsOf(file).map(roomOf))
        .filter((target) => target !== room),
    ),
  ]
  const reaches = (room: string, goal: string, seen = new Set<string>()): boolean =>
    roomsFrom(room).some((next) => next === goal || (!seen.has(next) && reaches(next, goal, seen.add(next))))
  expect(FLOORS.flat().filter((room) => reaches(room, room))).toEqual([])
})

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
      rooms.set(packageOf(name), importers.add(roomOf(file)))
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
