import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../helpers/command.ts'
import { IMPORTERS_PYTHON, isMissing } from '../helpers/programs.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { noPostgres, startPostgres } from '../load/start-postgres.ts'
import { examplesOf, pageAt, sectionOf } from './pages.ts'

const MANUAL = pageAt('output/README.md')
/** Contains the demo export where the examples expect it: `output/demo`. */
const folder = suiteFolder()

beforeAll(async () => {
  const { exit } = await runCommand([
    'run',
    join('jobs', 'examples', 'demo.yaml'),
    '--output',
    join(folder, 'output/demo'),
  ])
  expect(exit).toBe(0)
})

/** Formats rows like the DuckDB CLI with -csv. */
function csvOf(rows: readonly Record<string, unknown>[]): string {
  const lines = rows.map((row) => Object.values(row).map(String).join(','))
  return `${[Object.keys(rows[0] ?? {}).join(','), ...lines].join('\n')}\n`
}

async function queryDuckdb(sql: string): Promise<string> {
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  try {
    const there = sql.replaceAll("'output/", `'${folder}/output/`)
    return csvOf((await connection.runAndReadAll(there)).getRowObjectsJson())
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

const exampleIn = (heading: string, language: string) => examplesOf(sectionOf(MANUAL, heading), language)

describe('output/README.md', () => {
  const inDuckdb = exampleIn('### DuckDB', 'sql')

  test.for(inDuckdb)('prints in DuckDB what the page shows: $prints', async ({ code, prints }) => {
    expect(await queryDuckdb(code)).toBe(prints)
  })

  test('warns that inferred types round the same sum', async () => {
    const code = (inDuckdb[0]?.code ?? '').replace(', all_varchar = true', '').replace('::bignum', '')
    expect(await queryDuckdb(code)).toMatch(/^Main,ETH,640972179642057(?!316)/m)
  })

  test.skipIf(noPostgres)('prints in PostgreSQL what the page shows', { tags: ['long'] }, async () => {
    const server = await startPostgres()
    const client = new pg.Client(server.url)
    try {
      const loaded = await runCommand(['load', join(folder, 'output/demo'), '--to', server.url, '--quiet'])
      expect(loaded.exit).toBe(0)
      await client.connect()
      const [{ code, prints } = { code: '', prints: '' }] = exampleIn('### PostgreSQL', 'sql')
      expect(csvOf((await client.query(code)).rows)).toBe(prints)
    } finally {
      await client.end()
      await server.stop()
    }
  })

  test.skipIf(isMissing('python3'))('prints in Python what the page shows', { tags: ['long'] }, () => {
    const [{ code, prints } = { code: '', prints: '' }] = exampleIn('### Python', 'python')
    writeFileSync(join(folder, 'sums.py'), code)
    expect(execFileSync('python3', ['sums.py'], { cwd: folder, encoding: 'utf8' })).toBe(prints)
  })

  test.skipIf(isMissing('pandas (PyPI)')).for(exampleIn('### pandas and polars', 'python'))(
    'prints in pandas and polars what the page shows: $prints',
    { tags: ['long'] },
    async ({ code, prints }) => {
      const decimal = [
        '--output',
        join(folder, 'output/decimal'),
        '--format',
        'parquet',
        '--numbers',
        'decimal',
      ]
      const { exit } = await runCommand(['run', join('jobs', 'examples', 'demo.yaml'), ...decimal])
      expect(exit).toBe(0)
      expect(execFileSync(IMPORTERS_PYTHON, ['-c', code], { cwd: folder, encoding: 'utf8' })).toBe(prints)
    },
  )
})

test('the query in README.md prints what the page shows', async () => {
  const examples = examplesOf(pageAt('README.md'), 'sh')
  const [{ code, prints } = { code: '', prints: '' }] = examples.filter(({ code }) => code.includes('query'))
  const [, sql = ''] = /^walletlake query output\/demo --format csv "([^"]+)"\n?$/.exec(code) ?? []
  const { stdout } = await runCommand(['query', join(folder, 'output/demo'), '--format', 'csv', sql])
  expect(stdout).toBe(prints)
})
