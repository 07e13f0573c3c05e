import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../helpers/command.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readCsvTable, readManifest } from '../helpers/read-output.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'

const folder = suiteFolder()
/** Paths with `*` and `'`, which must not be special to DuckDB. */
const outputs = { csv: join(folder, "c*s'v"), gzip: join(folder, 'gzip'), parquet: join(folder, 'parquet') }

/** Enough blocks for every table, and for two partitions. */
const endBlock = 20

beforeAll(async () => {
  await exportDemo(outputs.csv, { endBlock })
  await exportDemo(outputs.gzip, { endBlock, compression: 'gzip' })
  const partitioned = { format: 'parquet', compression: 'zstd', partitionBy: 'blocks:10' } as const
  await exportDemo(outputs.parquet, { endBlock, ...partitioned })
})

async function ask(output: string, sql: string): Promise<Record<string, unknown>[]> {
  const { exit, stdout, stderr } = await runCommand(['query', output, sql, '--format', 'json'])
  expect(stderr).toBe('')
  expect(exit).toBe(0)
  return JSON.parse(stdout)
}

describe('walletlake query', () => {
  test('sums 256-bit values of every table exactly, from CSV, gzipped CSV and Parquet', async () => {
    const tables = [
      'ledger',
      'transactions',
      'erc20_transfers',
      'erc1155_transfers',
      'internal_transactions',
    ] as const
    const expected = await Promise.all(
      tables.map(async (name) => {
        const rows = await readCsvTable(outputs.csv, name)
        const sum = rows.reduce((all, { value }) => all + BigInt(value ?? '0'), 0n)
        return { name, sum: String(sum), rows: rows.length }
      }),
    )
    const sums = tables.map(
      (name) => `select '${name}' as name, sum(value) as sum, count(*) as rows from ${name}`,
    )
    for (const output of Object.values(outputs))
      expect(await ask(output, sums.join(' union all '))).toEqual(expected)
  })

  test('returns unescaped text, times in UTC, and decimals without exponent', {
    tags: ['long'],
  }, async () => {
    const sql = `select asset_symbol, block_timestamp, asset_decimals, units(value, asset_decimals) = amount as same
      from ledger where starts_with(asset_symbol, '=') limit 1`
    for (const output of Object.values(outputs))
      expect(await ask(output, sql)).toEqual([
        {
          asset_symbol: expect.stringMatching(/^=/),
          block_timestamp: expect.stringMatching(/^2023-11-14T\d\d:\d\d:\d\d\.\d{3}Z$/),
          asset_decimals: expect.any(Number),
          same: true,
        },
      ])
    const wrong =
      'select count(*) as wrong from ledger where units(value, asset_decimals) is distinct from amount'
    expect(await ask(outputs.parquet, wrong)).toEqual([{ wrong: 0 }])
  })

  test('converts integers of any type to decimals, and NULL to NULL', { tags: ['long'] }, async () => {
    const wholes = ['-1500::bignum', "'-1500'", '-1500::hugeint', '-1500::decimal(38, 0)', '-1500::int']
    const amounts = wholes.map((whole, at) => `units(${whole}, 2) as amount${at}`)
    const [row = {}] = await ask(outputs.parquet, `select ${amounts.join(', ')}`)
    expect(Object.values(row)).toEqual(wholes.map(() => '-15'))
    const nothing = "select units(null, 2) as a, units(null::varchar, 2) as b, units('5', null) as c"
    expect(await ask(outputs.parquet, nothing)).toEqual([{ a: null, b: null, c: null }])
    const average = 'select units(round(avg(value))::bignum, 18) is not null as good from ledger'
    expect(await ask(outputs.parquet, average)).toEqual([{ good: true }])
  })

  test.for([
    { sql: 'select units(1.5, 2)', found: '1.5' },
    { sql: "select units('abc', 2)", found: 'abc' },
    { sql: "select units('', 2)", found: '"' },
    { sql: "select units('007', 2)", found: '007' },
    { sql: "select 'Invalid Input Error: a', units('1e3', 2)", found: '1e3' },
    { sql: "select units(avg(value), 18) from ledger where asset_type = 'native'", found: '' },
    { sql: 'select units(value::double, 18) from ledger', found: '' },
  ])('rejects the conversion of a value that is not an integer: $sql', async ({ sql, found }) => {
    const { exit, stdout, stderr } = await runCommand(['query', outputs.csv, sql])
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
    expect(stderr).toContain(`USAGE: units: expected a whole number, found "${found}`)
    expect(stderr).toContain(
      'fix: Round and cast the value first, as in units(round(avg(value))::BIGNUM, 18).',
    )
  })

  test('prints the same bytes with any TZ', { tags: ['long'] }, async () => {
    const sql = `select date_trunc('day', block_timestamp) as day, [max(block_timestamp)] as newest,
      block_timestamp::date as date, count(*) as n from ledger group by all order by all; summarize ledger`
    for (const format of ['csv', 'json', 'table']) {
      const [utc, ...others] = await Promise.all(
        ['UTC', 'America/Los_Angeles', 'Asia/Kolkata'].map((TZ) =>
          runCommand(['query', outputs.parquet, sql, '--format', format], { TZ }),
        ),
      )
      expect(utc?.stdout).toContain('2023-11-14T00:00:00.000Z')
      for (const { stdout } of others) expect(stdout).toBe(utc?.stdout)
    }
  })

  test('warns about floating-point columns', async () => {
    const { exit, stderr } = await runCommand(['query', outputs.csv, 'select avg(value) as mean from ledger'])
    expect({ exit, stderr }).toEqual({
      exit: 0,
      stderr: expect.stringContaining('about 16 digits are right: mean'),
    })
  })

  test('prints the requested number of rows as a table', async () => {
    const { stdout } = await runCommand(['query', outputs.csv, 'from ledger', '--max-rows', '2'])
    expect(stdout).toMatch(/… and [\d,]+ more rows \(--max-rows \d+ shows all\)\n$/)
  })

  test('writes CSV like export files, one result after the other', async () => {
    const sql = "select 'a,b' as x, null as n, '' as e, '=1' as f, -5::bignum as v; show tables"
    const { stdout } = await runCommand(['query', outputs.csv, sql, '--format', 'csv'])
    expect(stdout.split('\n').slice(0, 4)).toEqual(['x,n,e,f,v', `"a,b",,"",'=1,-5`, '', 'name'])
  })

  test('reads statements from stdin', async () => {
    const path = join(folder, 'sums.sql')
    writeFileSync(path, 'select 1 + 1 as two;\n')
    const piped = await runCommand(['query', outputs.csv, '--format', 'csv'], {}, { shell: `exec <${path}` })
    expect(piped.stdout).toBe('two\n2\n')
    const empty = await runCommand(['query', outputs.csv], {}, { shell: 'exec </dev/null' })
    expect(empty).toMatchObject({ exit: 2, stderr: expect.stringContaining('there is no statement') })
  })

  test.for([
    { what: 'writes a file', sql: "copy ledger to 'stolen.csv'" },
    { what: 'overwrites the export', sql: 'EXPORT' },
    { what: 'writes within EXPLAIN ANALYZE', sql: "explain analyze copy ledger to 'stolen.csv'" },
    { what: 'reads another file', sql: "select * from read_text('/etc/hostname')" },
    { what: 'lists a folder', sql: "select * from glob('/*')" },
    { what: 'accesses the network', sql: "select * from read_csv('http://127.0.0.1:9/x.csv')" },
    { what: 'opens a database', sql: "attach 'other.db'" },
    { what: 'loads an extension', sql: 'install httpfs' },
    { what: 'creates a table', sql: 'create table x as select 1' },
    { what: 'enables external access', sql: 'set enable_external_access = true' },
    { what: 'is not SQL', sql: 'selec 1' },
    { what: 'refers to an unknown column', sql: 'select nothing from ledger' },
  ])('rejects a statement that $what, and does not change the export', async ({ sql }) => {
    const before = outputBytes(outputs.parquet)
    const [file] = execFileSync('find', [outputs.parquet, '-name', '*.parquet']).toString().split('\n')
    const statement = sql === 'EXPORT' ? `copy (select 1) to '${file}'` : sql
    const { exit, stdout, stderr } = await runCommand(
      ['query', outputs.parquet, statement],
      {},
      { cwd: folder },
    )
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
    expect(stderr).toMatch(/^USAGE: .+\nfix: .+/s)
    expect(existsSync(join(folder, 'stolen.csv'))).toBe(false)
    expect(outputBytes(outputs.parquet)).toEqual(before)
  })

  test('names a damaged file', async () => {
    const damaged = join(folder, 'damaged')
    await exportDemo(damaged, { endBlock: 20, format: 'parquet', compression: 'zstd', tables: ['ledger'] })
    const [file = ''] = execFileSync('find', [damaged, '-name', '*.parquet']).toString().split('\n')
    writeFileSync(file, 'no parquet')
    const { exit, stderr } = await runCommand(['query', damaged, 'select * from ledger'])
    expect(exit).toBe(10)
    expect(stderr).toMatch(/^VERIFY_FAILED: .*ledger.*\.parquet/s)
  })

  test('names the invalid row of a CSV file that is not an export table', { tags: ['long'] }, async () => {
    const damaged = join(folder, 'damaged-csv')
    await exportDemo(damaged, { endBlock: 20, tables: ['ledger'] })
    const path = readManifest(damaged).tables.ledger?.files[0]?.path ?? ''
    const whole = readFileSync(join(damaged, path), 'utf8').split('\n')
    const spoilt = [whole[2]?.replace(/,\d/, ',x'), whole[2]?.replaceAll(',', ';')]
    for (const row of spoilt) {
      const text = whole.with(2, row ?? '').join('\n')
      writeFileSync(join(damaged, path), text)
      const manifest = readManifest(damaged)
      const sha256 = createHash('sha256').update(text).digest('hex')
      Object.assign(manifest.tables.ledger?.files[0] ?? {}, { sha256, bytes: Buffer.byteLength(text) })
      writeFileSync(join(damaged, 'manifest.json'), JSON.stringify(manifest))
      const { exit, stderr } = await runCommand(['query', damaged, 'select * from ledger'])
      expect(exit).toBe(10)
      expect(stderr.split('\n')).toEqual([
        expect.stringMatching(/^VERIFY_FAILED: ledger\/.*\.csv:3: cannot be read: (Error when|Expected) /),
        expect.stringMatching(/^fix: /),
        '',
      ])
    }
  })
})
