import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const SRC = join(import.meta.dirname, '..', 'src')
/** From the top down: a folder imports folders of lower layers only, never one of its own layer. Types count. */
const LAYERS = [
  ['bin', 'index'],
  ['cli'],
  ['cluster', 'html-report', 'watch'],
  ['export'],
  ['transform'],
  ['accounting', 'files', 'load', 'reindex', 'verify'],
  ['iceberg', 'job', 'ledger', 'sources', 'terminal'],
  ['checkpoint', 'demo-server', 'http', 'read', 'storage'],
  ['formats'],
  ['core'],
]
/**
 * DuckDB writes Parquet in `files`, reads exports back in `read` and is a target of `load`; `core` loads it. Manifests,
 * queue entries, values of job fields and prices are each checked against a schema where they are read.
 */
const SHARED_PACKAGES: Record<string, readonly string[]> = {
  '@duckdb/node-api': ['core', 'files', 'read'],
  // `core/platform/retry.ts`, and API requests, whose delays follow Retry-After.
  'p-retry': ['core', 'http'],
  valibot: ['accounting', 'cluster', 'core', 'job'],
}

/**
 * The only importers of `sources/data-api`: the folder itself, the index of sources, and the commands and the public API
 * that offer more of the service than histories. Everything else reads through `sources/source.ts`.
 */
const DATA_API_IMPORTERS = [
  'sources/data-api/',
  'sources/index.ts',
  'accounting/price-list/',
  'cli/',
  'index.ts',
  'reindex/',
  'verify/audit/',
  'watch/',
]

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

const folderOf = (file: string) => file.split('/')[0]?.replace(/\.ts$/, '') ?? ''
const layerOf = (folder: string) => LAYERS.findIndex((folders) => folders.includes(folder))

test('every file is in a folder, and every folder in a layer', () => {
  expect([...new Set(files.map(folderOf))].sort()).toEqual(LAYERS.flat().sort())
  expect(files.filter((file) => !file.includes('/'))).toEqual(['bin.ts', 'index.ts'])
  expect(files.length).toBeGreaterThan(80)
})

test('every relative import names an existing file', () => {
  const broken = files.flatMap((file) =>
    internalsOf(file)
      .filter((target) => !files.includes(target))
      .map((target) => `${file} → ${target}`),
  )
  expect(broken).toEqual([])
})

test('a folder imports only itself and folders of lower layers', () => {
  const violations = files.flatMap((file) =>
    internalsOf(file)
      .filter((target) => !mayImport(folderOf(file), folderOf(target)))
      .map((target) => `${file} → ${target}`),
  )
  expect(violations).toEqual([])
})

function mayImport(folder: string, target: string): boolean {
  return folder === target || layerOf(target) > layerOf(folder)
}

test('only named clients of the service import sources/data-api', () => {
  const importers = files.filter((file) =>
    internalsOf(file).some((target) => target.startsWith('sources/data-api/')),
  )
  const isNamed = (file: string) => DATA_API_IMPORTERS.some((name) => file.startsWith(name))
  expect(importers.filter((file) => !isNamed(file))).toEqual([])
  expect(DATA_API_IMPORTERS.filter((name) => !importers.some((file) => file.startsWith(name)))).toEqual([])
})

test('there are no import cycles, types included', () => {
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

test('each third-party package is imported from one folder only', () => {
  const importersOf = new Map<string, Set<string>>()
  for (const file of files) {
    for (const name of importsOf(file).filter(isThirdParty)) {
      const importers = importersOf.get(packageOf(name)) ?? new Set()
      importersOf.set(packageOf(name), importers.add(folderOf(file)))
    }
  }
  const shared = [...importersOf].filter(([, importers]) => importers.size > 1)
  expect(Object.fromEntries(shared.map(([name, importers]) => [name, [...importers].sort()]))).toEqual(
    SHARED_PACKAGES,
  )
  expect([...importersOf.keys()]).toContain('undici')
})

test('only one file imports the argument parser', () => {
  const importers = files.filter((file) => importsOf(file).some((name) => /^yargs/.test(name)))
  expect(importers).toEqual(['cli/parser.ts'])
})

const isThirdParty = (name: string) =>
  !name.startsWith('.') && !name.startsWith('node:') && !builtinModules.includes(name)

const packageOf = (name: string) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')

test('no file is longer than 400 lines', () => {
  const long = files.filter((file) => textOf(file).split('\n').length > 401)
  expect(long).toEqual([])
})

test('benchmarks and pictures import only what the program exports', () => {
  const scripts = ['bench', 'bench/cluster', 'pictures'].flatMap((folder) =>
    readdirSync(join(import.meta.dirname, folder))
      .filter((name) => name.endsWith('.js'))
      .map((name) => join(import.meta.dirname, folder, name)),
  )
  const imported = scripts.flatMap((script) =>
    [...readFileSync(script, 'utf8').matchAll(/import \{([^}]+)\} from '[./]+\/dist\/(.+)\.js'/g)].flatMap(
      ([, names = '', module]) =>
        names.split(',').map((name) => ({ name: name.trim(), file: `${module}.ts` })),
    ),
  )
  expect(imported.length).toBeGreaterThan(15)
  const isMissing = ({ name, file }: { name: string; file: string }) =>
    !files.includes(file) || !new RegExp(`^export .*\\b${name}\\b`, 'm').test(textOf(file))
  expect(imported.filter(isMissing)).toEqual([])
})
