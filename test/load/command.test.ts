import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, test } from 'vitest'
import { runCommand, startCommand } from '../helpers/command.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { goodLake } from '../verify/export/model-export.ts'
import { duckdb, sqlite } from './engines.ts'
import { expectLake, writeExport, written } from './scenarios.ts'
import { readDraft } from './write-export.ts'

const addressOf = ({ to }: Awaited<ReturnType<typeof duckdb.place>>) => to.title

describe('walletlake load', () => {
  test('reports what it loaded, then that nothing is new', async () => {
    const { folder, place } = await written(duckdb)
    const first = await runCommand(['load', folder, '--to', addressOf(place)])
    expect(first).toMatchObject({ exit: 0 })
    expect(first.stdout).toBe(
      [
        `${addressOf(place)}: loaded`,
        '  erc20_transfers: 4 rows from 3 files',
        '  ledger: 18 rows from 3 files',
        '',
      ].join('\n'),
    )
    expect(first.stderr).toContain('ledger/ledger-000000000000-000000000200-0000.csv: 6 rows')
    const again = await runCommand(['load', folder, '--quiet', '--json'], {
      WALLETLAKE_LOAD_TO: addressOf(place),
    })
    expect(again.stderr).toBe('')
    expect(JSON.parse(again.stdout)).toEqual({
      to: addressOf(place),
      loaded: {},
      skipped: 6,
      updated: 0,
      notices: [],
    })
  })

  test('prints a script for a warehouse instead of loading', async () => {
    const { folder } = await written(duckdb)
    const { stdout, exit } = await runCommand([
      'load',
      folder,
      '--to',
      'snowflake:lake.raw',
      '--tables',
      'ledger',
    ])
    expect(exit).toBe(0)
    expect(stdout).toContain('MERGE INTO raw.ledger AS T')
    expect(stdout).toContain(`PUT 'file://${folder}/ledger/`)
  })

  test.for([
    { args: [], says: 'neither an output nor a manifest' },
    { args: ['OUT', '--from-manifest', 'x'], says: 'both an output and a manifest' },
    { args: ['OUT'], says: 'no target was named' },
    { args: ['OUT', '--to', 'oracle://me:s3cret@db/x'], says: 'unknown scheme oracle:' },
    { args: ['OUT', 'postgres://me:s3cret@db/x'], says: 'too many arguments' },
    { args: ['nowhere', '--to', 'duckdb:a.db'], says: 'there is no output folder or job file' },
    {
      args: ['OUT', '--to', 'duckdb:a.db', '--tables', 'ledgers'],
      says: '--tables: there is no table ledgers',
    },
    {
      args: ['OUT', '--to', 'duckdb:a.db', '--tables', 'erc721_transfers'],
      says: 'lists none of these tables',
    },
    { args: ['OUT', '--to', 'duckdb:a.db', '--memory', 'lots'], says: '--memory: found lots' },
    { args: ['OUT', '--to', 'duckdb:a.db', '--prefix', 'a-b'], says: '--prefix' },
    { args: ['OUT', '--to', 'sqlite:a.db', '--schema', 'x'], says: 'SQLite has no schemas' },
    { args: ['OUT', '--to', 'bigquery:lake'], says: '--files-at' },
  ])('exits with 2 and a fix for: $args', async ({ args, says }) => {
    const { folder } = await written(duckdb)
    const work = tempFolder()
    const given = args.map((arg) => (arg === 'OUT' ? folder : arg.replace('a.db', join(work, 'a.db'))))
    const { exit, stderr, stdout } = await runCommand(['load', ...given])
    expect(stderr).toMatch(/^USAGE: /)
    expect(stderr).toContain(says)
    expect(stderr).toMatch(/\nfix: .+\n$/)
    expect(stderr + stdout).not.toContain('s3cret')
    expect(exit).toBe(2)
  })

  test('exits with 10 for a changed file and with 7 for a database that it cannot open', async () => {
    const { folder, place } = await written(duckdb)
    const path = join(folder, readDraft(folder).tables.ledger?.files[0]?.path ?? '')
    writeFileSync(path, readFileSync(path, 'utf8').replace('fee', 'FEE'))
    const changed = await runCommand(['load', folder, '--to', addressOf(place), '--quiet'])
    expect(changed).toMatchObject({
      exit: 10,
      stderr: expect.stringMatching(/^VERIFY_FAILED: .*\nfix: .+\n$/),
    })
    const closed = await runCommand(['load', folder, '--to', `sqlite:${folder}/no/a.db`, '--quiet'])
    expect(closed).toMatchObject({ exit: 7, stderr: expect.stringMatching(/^LOAD_FAILED: .*\nfix: .+\n$/) })
  })

  test('exits with 8 while another process has the DuckDB file open', { tags: ['long'] }, async () => {
    const { folder, place } = await written(duckdb)
    const instance = await DuckDBInstance.create('file' in place.to ? place.to.file : '')
    const { exit, stderr } = await startCommand(['load', folder, '--to', addressOf(place), '--quiet']).ended
    instance.closeSync()
    expect(stderr).toMatch(/^OUTPUT_LOCKED: another process has duckdb:/)
    expect(exit).toBe(8)
  })

  const LOADS = [
    { engine: duckdb, commit: 'file' },
    { engine: sqlite, commit: 'load' },
  ]
  test.for(LOADS)(
    'resumes a $engine.name load with --commit $commit after it is killed at any file',
    { tags: ['long'] },
    async ({ engine, commit }) => {
      const folder = join(tempFolder(), 'out')
      await writeExport(folder, goodLake())
      const place = await engine.place()
      const args = ['load', folder, '--to', place.to.title, '--commit', commit]
      for (const lines of [1, 4]) {
        const child = startCommand(args)
        let seen = 0
        child.stderr?.on('data', (chunk) => {
          seen += String(chunk).split('\n').length - 1
          if (seen >= lines) child.kill('SIGKILL')
        })
        await child.ended
      }
      expect(await runCommand(args)).toMatchObject({ exit: 0 })
      await expectLake(place, goodLake())
    },
  )

  test('exits with 130 at SIGINT and leaves no partial load', async () => {
    const { folder, place } = await written(duckdb)
    const child = startCommand(['load', folder, '--to', addressOf(place)])
    child.stderr?.once('data', () => child.kill('SIGINT'))
    const { exit, stderr } = await child.ended
    if (exit === 130) {
      expect(stderr).toContain('uncommitted changes are rolled back')
      expect(await place.run('SHOW TABLES')).toEqual([])
    } else expect(exit).toBe(0)
  })
})

describe('walletlake schema', () => {
  test('prints the statements of an engine for the given tables', async () => {
    const { stdout } = await runCommand(['schema', 'ledger', '--sql', 'sqlite', '--prefix', 'w_'])
    expect(stdout).toContain('CREATE TABLE IF NOT EXISTS "w_ledger" (')
    expect(stdout.match(/CREATE TABLE/g)).toHaveLength(1)
    const two = await runCommand(['schema', '--sql', 'duckdb', '--table', 'ledger,transactions'])
    expect(two.stdout.match(/CREATE TABLE/g)).toHaveLength(2)
  })

  test.for([
    { args: ['--sql', 'oracle'], says: 'oracle' },
    { args: ['--naming', 'cryo'], says: '--naming needs --sql' },
    { args: ['--sql', 'duckdb', '--table', 'ledgers'], says: 'there is no table ledgers' },
    { args: ['ledgers', '--sql', 'duckdb'], says: 'there is no table ledgers' },
  ])('exits with 2 and a fix for: $args', async ({ args, says }) => {
    const { exit, stderr } = await runCommand(['schema', ...args])
    expect(stderr).toMatch(/^USAGE: [\s\S]*\nfix: .+\n$/)
    expect(stderr).toContain(says)
    expect(exit).toBe(2)
  })
})
