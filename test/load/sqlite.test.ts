import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadInto } from '../../src/load/load.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { goodLake } from '../verify/export/model-export.ts'
import { type Place, sqlite, urlOf } from './engines.ts'
import { describeScenarios, expectLake, written } from './scenarios.ts'

describeScenarios(sqlite)

const fileOf = ({ to }: Place) => ('file' in to ? to.file : '')

describe('a SQLite file', () => {
  test('has no files next to it after a load, and has the default mode', async () => {
    const { folder, place } = await written(sqlite)
    const file = fileOf(place)
    await loadInto(folder, place.to)
    expect(readdirSync(dirname(file))).toEqual(['lake.sqlite'])
    expect(statSync(file).mode & 0o777).toBe(0o666 & ~process.umask())
  })

  test('is loaded although a killed load left files next to it', async () => {
    const { folder, place } = await written(sqlite)
    const file = fileOf(place)
    mkdirSync(`${file}.walletlake/copy.db.lock`, { recursive: true })
    writeFileSync(`${file}.walletlake/copy.db`, 'half a database')
    writeFileSync(`${file}.walletlake/copy.db-journal`, 'half a journal')
    await loadInto(folder, place.to)
    await expectLake(place, goodLake())
    expect(existsSync(`${file}.walletlake`)).toBe(false)
  })

  test('is locked while another load is in progress', async () => {
    const { folder, place } = await written(sqlite)
    const file = fileOf(place)
    mkdirSync(`${file}.walletlake`)
    const holder = { pid: process.pid, host: 'elsewhere', startedAt: '2026-01-01T00:00:00.000Z', ticks: null }
    writeFileSync(`${file}.walletlake/lock`, JSON.stringify(holder))
    await expect(loadInto(folder, place.to)).rejects.toMatchObject({ code: 'OUTPUT_LOCKED' })
    expect(existsSync(`${file}.walletlake/lock`)).toBe(true)
  })

  test('is not replaced if another program wrote to it during the load', async () => {
    const { folder, place } = await written(sqlite)
    await place.run('CREATE TABLE other (a)')
    let writing: Promise<unknown> = Promise.resolve()
    const onFile = () => {
      writing = place.run('INSERT INTO other VALUES (1)')
    }
    await expect(loadInto(folder, place.to, { onFile })).rejects.toThrow('another program wrote')
    await writing
    expect((await place.run('SELECT a FROM other')).length).toBeGreaterThan(0)
    expect(await place.run("SELECT name FROM sqlite_schema WHERE name = 'ledger'")).toEqual([])
  })

  test('is not changed while another program has unfinished changes in it', async () => {
    const { folder, place } = await written(sqlite)
    const file = fileOf(place)
    await place.run('CREATE TABLE other (a)')
    writeFileSync(`${file}-wal`, 'pages')
    const failure = await loadInto(folder, place.to).catch((thrown) => thrown)
    expect(failure).toMatchObject({ code: 'OUTPUT_LOCKED', fix: expect.stringContaining('wal_checkpoint') })
  })

  test('keeps other tables', async () => {
    const { folder, place } = await written(sqlite)
    await place.run('CREATE TABLE other AS SELECT 1 AS a')
    await loadInto(folder, place.to)
    expect(await place.run('SELECT a FROM other')).toEqual([{ a: 1 }])
  })

  test('is rejected if a table has incompatible columns', async () => {
    const { folder, place } = await written(sqlite)
    await place.run('CREATE TABLE ledger (chain_id INTEGER NOT NULL)')
    await expect(loadInto(folder, place.to)).rejects.toThrow(
      'the column chain_id is INTEGER NOT NULL, expected TEXT NOT NULL',
    )
  })

  test.for([
    { path: 'no/such/folder/a.db', says: 'there is no folder' },
    { path: 'text.db', says: 'not a SQLite database' },
    { path: '', says: 'it is a folder, not a file' },
  ])('is named in the error if it cannot be opened: $says', async ({ path, says }) => {
    const { folder } = await written(sqlite)
    const file = join(tempFolder(), path)
    if (path === 'text.db') writeFileSync(file, 'this is not a database'.repeat(1000))
    const failure = await loadInto(folder, urlOf(`sqlite:${file}`)).catch((thrown) => thrown)
    expect(failure).toMatchObject({ code: 'LOAD_FAILED', message: expect.stringContaining(file) })
    expect(failure.message).toContain(says)
    expect(existsSync(`${file}.walletlake`)).toBe(false)
  })
})
