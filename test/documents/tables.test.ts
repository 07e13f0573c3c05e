import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { JOURNALS, MULTI_FILE_WRITERS, PRESETS } from '../../src/accounting/formats.ts'
import { PROTOCOLS } from '../../src/accounting/protocols/rule-of.ts'
import { type Column, PREFIX } from '../../src/core/table/column.ts'
import { TABLES } from '../../src/core/table/index.ts'
import { OPERATIONS } from '../../src/demo-server/operations.ts'
import { DIALECTS } from '../../src/load/ddl/dialects.ts'
import { blocksOf, pageAt, ROOT, rowsOf, sectionOf } from './pages.ts'

const codeIn = (text = '') => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
const foldersIn = (path: string) =>
  readdirSync(join(ROOT, path), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  )

describe('README.md', () => {
  const page = pageAt('README.md')

  test('starts with the demo and the tests', () => {
    expect(blocksOf(page)[0]?.text).toBe('npm ci && npm run demo\nnpm ci && npm test\n')
  })

  test('leaves the tables to the page of the output, which lists each', () => {
    const section = sectionOf(pageAt('output/README.md'), '## Files')
    const names = [...section.matchAll(/\[`(\w+)`\]\(#\1\)/g)].map(([, name]) => name)
    expect(names.sort()).toEqual(TABLES.map(({ name }) => name).sort())
  })
})

describe('output/README.md', () => {
  const page = pageAt('output/README.md')
  const documentedRow = ({ name, type, nullable, about }: Column) => [
    `\`${name}\``,
    `${type}${nullable ? '?' : ''}`,
    about,
  ]

  test('has the first six columns of every table', () => {
    expect(rowsOf(sectionOf(page, '### The first six columns of every table'))).toEqual(
      PREFIX.map(documentedRow),
    )
  })

  /** Rows of columns, each with the number of tables that have exactly this column. */
  const counts = new Map<string, number>()
  for (const { columns } of TABLES)
    for (const column of columns.slice(PREFIX.length)) {
      const row = JSON.stringify(documentedRow(column))
      counts.set(row, (counts.get(row) ?? 0) + 1)
    }
  const isShared = (column: Column) => (counts.get(JSON.stringify(documentedRow(column))) ?? 0) > 1

  test('has the columns of several tables once', () => {
    const shared = [...counts].flatMap(([row, count]) => (count > 1 ? [JSON.parse(row) as string[]] : []))
    expect(rowsOf(sectionOf(page, '### Columns of several tables'))).toEqual(shared)
  })

  test.for(TABLES.map((table) => [table.name, table] as const))('has every column of %s', ([name, table]) => {
    const section = sectionOf(page, `### ${name}`)
    const text = section.replaceAll('\n', ' ')
    const columns = table.columns.slice(PREFIX.length)
    const quoted = (names: readonly string[]) => names.map((column) => `\`${column}\``).join(', ')
    expect(text).toContain(`${table.about} Key: ${quoted(table.key)}.`)
    expect(text).toContain(`Columns: ${quoted(columns.map((column) => column.name))}.`)
    expect(rowsOf(section)).toEqual(columns.filter((column) => !isShared(column)).map(documentedRow))
  })

  test('has the column types of the engines', () => {
    const types = rowsOf(sectionOf(page, '### Other engines')).map(([type, , , inDuckdb, inPostgres]) => [
      type,
      inDuckdb,
      inPostgres,
    ])
    const expected = Object.keys(DIALECTS.duckdb.types).map((type) => [
      type,
      DIALECTS.duckdb.types[type as Column['type']],
      DIALECTS.postgres.types[type as Column['type']],
    ])
    expect(types).toEqual(expected)
  })
})

test('src/demo-server/README.md lists every operation', () => {
  const documented = rowsOf(sectionOf(pageAt('src/demo-server/README.md'), '## Operations')).map(
    ([operation]) => codeIn(operation)[0],
  )
  expect(documented).toEqual(Object.values(OPERATIONS).map(({ method, path }) => `${method} ${path}`))
})

describe('src/README.md', () => {
  const page = pageAt('src/README.md')

  test('lists every folder in a layer', () => {
    const folders = rowsOf(sectionOf(page, '## Layers')).flatMap(([, names]) => codeIn(names))
    expect(folders.filter((folder) => !folder.endsWith('.ts')).sort()).toEqual(foldersIn('src').sort())
  })

  test.for(rowsOf(sectionOf(page, '## Invariants')))('%s: the named test exists', ([, test = '']) => {
    const [, file = '', title = ''] = /^`([^`]+)`: (.*)$/.exec(test) ?? []
    const path = join('test', file)
    expect(existsSync(join(ROOT, path)) && pageAt(path)).toContain(title)
  })

  test('lists ten files from `run` to a published row', () => {
    const section = sectionOf(page, '## From `run` to a published row: ten files to read')
    expect(section.match(/^\d+\. \[/gm)).toHaveLength(10)
  })

  test('has a reason for every dependency', () => {
    const { dependencies } = JSON.parse(pageAt('package.json')) as { dependencies: object }
    const named = rowsOf(sectionOf(page, '## Dependencies')).flatMap(([names]) => codeIn(names))
    expect(named.sort()).toEqual(Object.keys(dependencies).sort())
  })
})

test('test/README.md lists every test folder', () => {
  const folders = foldersIn('src')
  const documented = rowsOf(sectionOf(pageAt('test/README.md'), '## Folders')).flatMap(([names]) =>
    codeIn(names).map((name) => name.replace(/\/$/, '')),
  )
  const others = foldersIn('test').filter((folder) => !folders.includes(folder))
  expect(others.filter((folder) => !documented.includes(folder))).toEqual([])
  expect(documented.filter((name) => !existsSync(join(ROOT, 'test', name)))).toEqual([])
})

test('test/bench/README.md lists every benchmark', () => {
  const [, names = ''] = /const BENCHES = \{([^}]*)\}/.exec(pageAt('test/bench/bench.js')) ?? []
  const benches = [...names.matchAll(/^ {2}(\w+):/gm)].map(([, name = '']) => name)
  expect(rowsOf(pageAt('test/bench/README.md')).map(([name]) => codeIn(name)[0])).toEqual(benches)
})

type AnyFormat = (typeof PRESETS)[number] | (typeof MULTI_FILE_WRITERS)[number] | (typeof JOURNALS)[number]

/** Which NFTs a format supports, and whether it supports swaps in one line; journals support all of them. */
function holdingsOf(format: AnyFormat): string[] {
  const forms = 'files' in format ? format.files : 'supportsNfts' in format ? [format] : []
  if (forms.length === 0) return ['yes', 'yes']
  const nfts = forms.map(({ supportsNfts }) => supportsNfts)
  const swaps = forms.map(({ supportsSwaps }) => supportsSwaps)
  return [
    nfts.includes(true) ? 'yes' : nfts.includes('erc721') ? 'ERC-721' : 'no',
    swaps.includes(true) ? 'yes' : 'no',
  ]
}

const HANDLINGS = {
  merge: 'merged',
  distinguish: 'distinguished',
  keep: 'all imported',
  unpair: 'further ones are not paired',
}

/** What a format does with equal lines, in the order of its files. Journals are read as they are. */
function handlingsOf(format: AnyFormat): string {
  const forms = 'files' in format ? format.files : 'equalLines' in format ? [format] : []
  const handlings = forms.map(({ equalLines }) => HANDLINGS[equalLines.handling])
  return [...new Set(handlings.length === 0 ? [HANDLINGS.keep] : handlings)].join('; ')
}

test('jobs/ACCOUNTING.md lists every format', () => {
  const documented = rowsOf(sectionOf(pageAt('jobs/ACCOUNTING.md'), '## All formats'))
  const known = [...PRESETS, ...MULTI_FILE_WRITERS, ...JOURNALS].map((preset) => {
    const { name, title, rulesOf } = preset
    const unverified = ('unverified' in preset && preset.unverified) || '–'
    return [`\`${name}\``, title, ...holdingsOf(preset), handlingsOf(preset), rulesOf, unverified]
  })
  expect(documented).toEqual(known)
})

test('jobs/ACCOUNTING.md lists the accounts of journals', () => {
  const documented = codeIn(
    rowsOf(sectionOf(pageAt('jobs/ACCOUNTING.md'), '### hledger'))
      .flat()
      .join(' '),
  )
  for (const { accounts } of JOURNALS)
    for (const account of Object.values(accounts)) expect(documented).toContain(account)
})

test('jobs/ACCOUNTING.md states how each program counts fees in other lines', () => {
  const documented = rowsOf(sectionOf(pageAt('jobs/ACCOUNTING.md'), '### Fees in other lines'))
  const ofSameAsset = {
    beside: 'in the fee columns',
    included: 'included in the sent amount',
    'included if sent': 'included in the sent amount, but not of swaps',
  }
  const ownLine = 'a line of its own'
  // A row has the presets of programs that count fees in the same way.
  const rows = new Map<string, string[]>()
  for (const { name, attachedFees: fees } of PRESETS) {
    if (fees === undefined) continue
    const key = [
      fees.isDefault ? 'attach' : 'separate',
      fees.ofSameAsset === undefined ? ownLine : ofSameAsset[fees.ofSameAsset],
      fees.ofOtherAssets ? 'in the fee columns' : ownLine,
    ].join('|')
    rows.set(key, [...(rows.get(key) ?? []), `\`${name}\``])
  }
  const known = [...rows].map(([key, names]) => [names.join(', '), ...key.split('|')])
  expect(documented).toEqual(known)
})

test('jobs/ACCOUNTING.md lists every method of a known protocol', () => {
  const documented = rowsOf(sectionOf(pageAt('jobs/ACCOUNTING.md'), '### Known protocols'))
  // A row has the methods of a protocol with the same chains and meaning.
  const rows = new Map<string, string[]>()
  for (const { name, methods } of PROTOCOLS)
    for (const { method, contracts, kind } of methods) {
      if (contracts === undefined) continue
      const key = [name, Object.keys(contracts).join(', '), kind].join('|')
      rows.set(key, [...(rows.get(key) ?? []), `\`${method}\``])
    }
  const known = [...rows].map(([key, methods]) => {
    const [name, chains, kind] = key.split('|')
    return [name, methods.join(', '), chains, kind]
  })
  expect(documented).toEqual(known)
})

test('CHANGELOG.md starts with the version of the package', () => {
  const { version } = JSON.parse(pageAt('package.json')) as { version: string }
  const versions = [...pageAt('CHANGELOG.md').matchAll(/^## \[([^\]]+)\]/gm)].map(([, name]) => name)
  expect(versions[0]).toBe(version)
})

test('every page that mentions the tarball uses the name that npm pack creates', () => {
  const { version } = JSON.parse(pageAt('package.json')) as { version: string }
  const schedule = readdirSync(join(ROOT, 'jobs/schedule'), { withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [`jobs/schedule/${entry.name}`] : [],
  )
  const named = ['README.md', ...schedule].flatMap(
    (path) => pageAt(path).match(/walletlake-\d[\w.-]*\.tgz/g) ?? [],
  )
  expect(named.length).toBeGreaterThan(6)
  expect([...new Set(named)]).toEqual([`walletlake-${version}.tgz`])
})
