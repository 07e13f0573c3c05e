import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ExportError } from '../../src/core/model/errors.ts'
import { DEFAULT_TABLES, type TableName, tableByName } from '../../src/core/table/index.ts'
import { type LoadIntoOptions, loadInto } from '../../src/load/load.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'
import { type Cells, goodLake, type Lake } from '../verify/export/model-export.ts'
import type { Engine, Place } from './engines.ts'
import { hostileLake, inOrder } from './hostile-export.ts'
import { startBucket } from './start-bucket.ts'
import { type ExportOptions, within, writeExport as writeTables } from './write-export.ts'

/** Tables for scenarios that do not depend on the tables. */
const FEW = ['erc20_transfers', 'ledger'] as const

export async function expectLake(
  place: Place,
  lake: Lake,
  { tables = FEW, prefix = '' }: { tables?: readonly TableName[]; prefix?: string } = {},
): Promise<void> {
  for (const table of tables) {
    expect(inOrder(await place.rows(table, prefix + table)), table).toEqual(
      inOrder(lake[table].map((row) => ({ ...nulls(table), ...row }))),
    )
  }
}

export const writeExport = (folder: string, lake: Lake, options: ExportOptions = {}) =>
  writeTables(folder, lake, { tables: FEW, ...options })

const nulls = (table: TableName): Cells =>
  Object.fromEntries(tableByName(table).columns.map(({ name }) => [name, null]))

/** Removes the rows that match. */
function without(lake: Lake, isRemoved: (row: Cells) => boolean): Lake {
  const tables = DEFAULT_TABLES.map((table) => [table, lake[table].filter((row) => !isRemoved(row))])
  return Object.fromEntries(tables) as Lake
}

const inBlock = (block: number) => (row: Cells) => Number(row.block_number) === block

/** Writes an export and creates a database for it. */
export async function written(engine: Engine) {
  const folder = join(tempFolder(), 'out')
  await writeExport(folder, goodLake())
  return { folder, place: await engine.place() }
}

/** Scenarios that hold for every engine. */
export function describeScenarios(engine: Engine): void {
  /** What depends on the files and not on the engine is in the short suite for this one only. */
  const isFirst = engine.name === 'sqlite'
  const repeated = { tags: isFirst ? [] : ['long'] }
  const hasConstraints = engine.name === 'duckdb' || engine.name === 'postgres'

  async function loaded(lake: Lake, options: ExportOptions = {}) {
    const folder = join(tempFolder(), 'out')
    await writeExport(folder, lake, options)
    const place = await engine.place()
    const load = (given?: LoadIntoOptions) => loadInto(folder, place.to, given)
    const result = await load()
    return { folder, place, load, result }
  }

  describe.skipIf(engine.skipped)(`an export in ${engine.name}`, () => {
    testSample(
      1,
      [
        { where: 'in one file', block: '100', cuts: [0, 200, 300, 1000] },
        { where: 'in two files', block: '250', cuts: [0, 200, 300, 1000] },
        {
          where: 'in a new file and one that was loaded before',
          block: '1500',
          cuts: [0, 200, 300, 1000, 2000],
        },
      ],
      'is rejected as a whole if it contains a duplicate row $where',
      async ({ block, cuts }) => {
        const { folder, place, load } = await loaded(goodLake())
        const lake = goodLake()
        const [twice] = lake.ledger
        lake.ledger.push({ ...twice, block_number: block })
        lake.ledger.sort((a, b) => Number(a.block_number) - Number(b.block_number))
        await writeExport(folder, lake, { cuts })
        await expect(load()).rejects.toMatchObject({
          code: 'VERIFY_FAILED',
          message: expect.stringContaining(
            `the export contains a duplicate row: entry_id = ${twice?.entry_id}`,
          ),
        })
        await expectLake(place, goodLake())
      },
    )

    test(
      'is rejected if a row duplicates one of a file that was loaded from a URL before',
      repeated,
      async () => {
        const folder = join(tempFolder(), 'out')
        await writeExport(folder, within(goodLake(), 0, 300), { cuts: [0, 200, 300] })
        const place = await engine.place()
        const { host } = await startBucket(folder)
        const load = () => loadInto(`http://${host}/manifest.json`, place.to, { retryDelayMs: 1 })
        await load()
        const lake = goodLake()
        const [twice] = lake.ledger
        lake.ledger.push({ ...twice, block_number: '500' })
        lake.ledger.sort((a, b) => Number(a.block_number) - Number(b.block_number))
        await writeExport(folder, lake)
        for (const _ of ['first', 'second'])
          await expect(load()).rejects.toMatchObject({
            code: 'VERIFY_FAILED',
            message: expect.stringContaining(
              `the export contains a duplicate row: entry_id = ${twice?.entry_id}`,
            ),
          })
        await writeExport(folder, goodLake(), { cuts: [0, 1000] })
        await load()
        await expectLake(place, goodLake())
      },
    )

    const endings = ['csv', 'csv.gz', 'parquet'] as const
    testSample(isFirst ? 2 : 1, endings, 'is loaded unchanged from %s', async (ending) => {
      const { place, result } = await loaded(hostileLake(), {
        ending,
        tables: DEFAULT_TABLES,
        cuts: [0, 250, 1000],
      })
      expect(result).toMatchObject({ skipped: 0, updated: 0, notices: [] })
      await expectLake(place, hostileLake(), { tables: DEFAULT_TABLES })
    })

    test('keeps a row of 20 MiB with quotes and line ends', { tags: ['long'] }, async () => {
      const lake = goodLake()
      const picture = `data:image/svg+xml,"${'<g/>,\n'.repeat(3_500_000)}"`
      Object.assign(lake.erc721_transfers[0] ?? {}, { metadata_image_uri: picture })
      const tables = ['erc721_transfers'] as const
      const { place } = await loaded(lake, { tables })
      await expectLake(place, lake, { tables })
    })

    test('gives the same rows if it is loaded twice', async () => {
      const { place, load } = await loaded(goodLake())
      const again = await load()
      expect(again).toMatchObject({ loaded: {}, updated: 0 })
      expect(again.skipped).toBe(6)
      await expectLake(place, goodLake())
    })

    test('is loaded again where its table was dropped', repeated, async () => {
      const { place, load } = await loaded(goodLake())
      await place.run('DROP TABLE ledger')
      const again = await load()
      expect(again.loaded).toEqual({ ledger: { rows: 18, files: 3 } })
      await expectLake(place, goodLake())
      expect((await load()).loaded).toEqual({})
    })

    test.skipIf(!hasConstraints)(
      'asks for a table without transfer_id to be renamed, and is complete after that',
      async () => {
        const { place, load } = await loaded(goodLake())
        await place.run('ALTER TABLE erc20_transfers DROP COLUMN transfer_id')
        await expect(load()).rejects.toMatchObject({
          code: 'LOAD_FAILED',
          message: expect.stringContaining('the key column transfer_id is missing'),
          fix: expect.stringContaining('Rename or drop that table'),
        })
        await place.run('ALTER TABLE erc20_transfers RENAME TO earlier_transfers')
        await load()
        await expectLake(place, goodLake())
      },
    )

    test.skipIf(!hasConstraints)(
      'replaces rows of unknown origin by key instead of duplicating them',
      async () => {
        const { place, load } = await loaded(goodLake())
        await place.run('DELETE FROM walletlake_loads')
        await place.run("UPDATE ledger SET block_number = 999, amount = '7' WHERE entry_type = 'fee'")
        await load()
        await expectLake(place, goodLake())
      },
    )

    test.skipIf(!hasConstraints)(
      'accepts nulls in columns that earlier versions declared NOT NULL',
      async () => {
        const { folder, place, load } = await loaded(goodLake())
        await place.run('ALTER TABLE ledger ALTER COLUMN block_hash SET NOT NULL')
        const lake = goodLake()
        for (const row of lake.ledger) row.block_hash = null
        await writeExport(folder, lake)
        await load()
        await expectLake(place, lake)
      },
    )

    test.skipIf(engine.name === 'clickhouse')('keeps U+0000 in text, or stores U+FFFD', async () => {
      const lake = goodLake()
      for (const row of lake.erc20_transfers) row.token_name = 'a\u0000b'
      const { place } = await loaded(lake)
      for (const row of lake.erc20_transfers)
        row.token_name = engine.name === 'duckdb' ? 'a\u0000b' : 'a\ufffdb'
      await expectLake(place, lake)
    })

    test('adds only the new files of a later run', repeated, async () => {
      const { folder, place, load } = await loaded(within(goodLake(), 0, 300), { cuts: [0, 200, 300] })
      await expectLake(place, within(goodLake(), 0, 300))
      await writeExport(folder, goodLake())
      const later = await load()
      expect(later).toMatchObject({ loaded: { erc20_transfers: { rows: 2, files: 1 } }, updated: 0 })
      await expectLake(place, goodLake())
    })

    test('replaces the blocks of rewritten files', async () => {
      const { folder, place, load } = await loaded(goodLake())
      const corrected = without(goodLake(), inBlock(205))
      for (const row of corrected.ledger) if (inBlock(300)(row)) row.counterparty_name = 'changed'
      await writeExport(folder, corrected)
      const result = await load()
      expect(result.updated).toBeGreaterThan(0)
      await expectLake(place, corrected)
    })

    test.skipIf(engine.name === 'clickhouse')(
      'keeps own columns, views, indexes and foreign keys where rows changed, moved or vanished',
      async () => {
        const { folder, place, load } = await loaded(goodLake())
        await place.run('ALTER TABLE ledger ADD COLUMN note text')
        await place.run("UPDATE ledger SET note = 'on ' || entry_id")
        if (engine.name === 'duckdb') await place.run('ALTER TABLE ledger ADD PRIMARY KEY (entry_id)')
        await place.run('CREATE VIEW noted AS SELECT entry_id, note FROM ledger')
        await place.run('CREATE INDEX by_symbol ON ledger (asset_symbol)')
        await place.run('CREATE TABLE remarks (entry_id text REFERENCES ledger (entry_id))')
        await place.run('INSERT INTO remarks SELECT entry_id FROM ledger WHERE block_number <> 205')

        const corrected = without(goodLake(), inBlock(205))
        for (const row of corrected.ledger) {
          if (inBlock(100)(row)) row.counterparty_name = 'changed'
          if (inBlock(300)(row)) row.block_number = '1500'
        }
        corrected.ledger.sort((a, b) => Number(a.block_number) - Number(b.block_number))
        await writeExport(folder, corrected, { cuts: [0, 200, 300, 1000, 2000] })
        await load()
        await expectLake(place, corrected)
        const ids = corrected.ledger.map((row) => String(row.entry_id)).sort()
        expect(await place.run('SELECT entry_id, note FROM noted ORDER BY entry_id')).toEqual(
          ids.map((id) => ({ entry_id: id, note: `on ${id}` })),
        )
        expect(await place.run('SELECT entry_id FROM remarks ORDER BY entry_id')).toEqual(
          ids.map((id) => ({ entry_id: id })),
        )
        // The index still exists.
        await place.run('DROP INDEX by_symbol')
      },
    )

    test('deletes the rows of removed files', async () => {
      const { folder, place, load } = await loaded(goodLake())
      await writeExport(folder, within(goodLake(), 0, 300), { cuts: [0, 200, 300] })
      await load()
      await expectLake(place, within(goodLake(), 0, 300))
    })

    test('keeps the rows of a file whose blocks overlap the replaced ones', repeated, async () => {
      const { folder, place, load } = await loaded(goodLake(), { cuts: [0, 1000] })
      const corrected = goodLake()
      corrected.ledger = corrected.ledger.slice(0, -1)
      await writeExport(folder, corrected, { cuts: [0, 1000] })
      expect((await load()).loaded).toEqual({ ledger: { rows: 17, files: 2 } })
      await expectLake(place, corrected)
    })

    test('moves a transaction that a reorg put into another block', repeated, async () => {
      const { folder, place, load } = await loaded(goodLake())
      const moved = without(goodLake(), inBlock(205))
      for (const table of DEFAULT_TABLES) {
        for (const row of goodLake()[table].filter(inBlock(205))) {
          moved[table].push({ ...row, block_number: '350', block_hash: '0xnew' })
        }
        moved[table].sort((a, b) => Number(a.block_number) - Number(b.block_number))
      }
      await writeExport(folder, moved)
      await load()
      await expectLake(place, moved)
    })

    test('loads the remaining files after an interruption between files', repeated, async () => {
      const folder = join(tempFolder(), 'out')
      await writeExport(folder, goodLake())
      const place = await engine.place()
      for (const commit of ['load', 'file'] as const) {
        const stop = new AbortController()
        let files = 0
        const onFile = () => {
          files += 1
          if (files === 3) stop.abort(new ExportError('INTERRUPTED', 'SIGINT was received'))
        }
        const { signal } = stop
        await expect(loadInto(folder, place.to, { signal, onFile, commit })).rejects.toThrow('SIGINT')
      }
      const result = await loadInto(folder, place.to)
      if (engine.name !== 'sqlite') expect(result.skipped).toBeGreaterThanOrEqual(2)
      await expectLake(place, goodLake())
    })

    test('repeats interrupted corrections', repeated, async () => {
      const { folder, place, load } = await loaded(goodLake())
      const corrected = without(goodLake(), inBlock(205))
      for (const table of DEFAULT_TABLES) for (const row of corrected[table]) row.block_hash = '0xnew'
      await writeExport(folder, corrected)
      for (const after of [1, 2]) {
        const stop = new AbortController()
        let files = 0
        const onFile = () => {
          files += 1
          if (files === after) stop.abort(new ExportError('INTERRUPTED', 'SIGINT was received'))
        }
        await expect(load({ signal: stop.signal, onFile, commit: 'file' })).rejects.toThrow('SIGINT')
        if (engine.transactions) await expectLake(place, goodLake())
      }
      await load()
      await expectLake(place, corrected)
    })

    test('shares tables with another export without changing its rows', repeated, async () => {
      const { folder, place, load } = await loaded(goodLake())
      const other = join(tempFolder(), 'other')
      await writeExport(other, within(goodLake(), 205, 301), {
        name: 'other',
        wallets: 'theirs',
        cuts: [200, 300, 400],
      })
      expect(await loadInto(other, place.to)).toMatchObject({ updated: 0, notices: [] })
      await expectLake(place, goodLake())

      const corrected = without(goodLake(), (row) => inBlock(100)(row) || inBlock(205)(row))
      await writeExport(folder, corrected)
      const { notices } = await load()
      expect(notices).toContainEqual(expect.stringContaining('also loaded from the output other'))
      await expectLake(place, without(goodLake(), inBlock(100)))
    })

    test('rejects another output with the same name', repeated, async () => {
      const { place } = await loaded(goodLake())
      const other = join(tempFolder(), 'other')
      await writeExport(other, within(goodLake(), 0, 300), { wallets: 'theirs', cuts: [0, 200, 300] })
      const failure = await loadInto(other, place.to).catch((thrown: ExportError) => thrown)
      expect(failure).toMatchObject({ code: 'USAGE', fix: expect.stringContaining('--source') })
      await loadInto(other, place.to, { source: 'second' })
      await expectLake(place, goodLake())
    })

    test('follows a job with changed wallets and an output in a new location', repeated, async () => {
      const { folder, load, place } = await loaded(goodLake())
      await writeExport(folder, within(goodLake(), 0, 300), { wallets: 'fewer', cuts: [0, 200, 300] })
      await load()
      await expectLake(place, within(goodLake(), 0, 300))
      const moved = join(tempFolder(), 'moved')
      await writeExport(moved, within(goodLake(), 0, 200), { wallets: 'fewer', cuts: [0, 200] })
      await loadInto(moved, place.to)
      await expectLake(place, within(goodLake(), 0, 200))
    })

    test('loads only the selected tables and later the others', repeated, async () => {
      const folder = join(tempFolder(), 'out')
      await writeExport(folder, goodLake())
      const place = await engine.place()
      const first = await loadInto(folder, place.to, { tables: [tableByName('ledger')] })
      expect(Object.keys(first.loaded)).toEqual(['ledger'])
      expect((await loadInto(folder, place.to)).loaded.ledger).toBeUndefined()
      await expectLake(place, goodLake())
    })

    test('does not change a table that the export no longer contains', repeated, async () => {
      const { folder, place, load } = await loaded(goodLake())
      await writeExport(folder, goodLake(), { tables: ['ledger'] })
      const { notices } = await load()
      expect(notices).toEqual(
        expect.arrayContaining([expect.stringContaining('erc20_transfers: this export')]),
      )
      await expectLake(place, goodLake())
    })

    test('gets a column that its table lacks, beside one that the user added', repeated, async () => {
      const { folder, place, load } = await loaded(goodLake())
      await place.run('ALTER TABLE ledger DROP COLUMN asset_symbol')
      await place.run(`ALTER TABLE ledger ADD COLUMN note ${engine.integer}`)
      // Runs of a version with another column write all files again.
      await writeExport(folder, goodLake(), { cuts: [0, 1000] })
      await load()
      await expectLake(place, goodLake())
    })

    test(
      'is rejected if a column that its table lacked has another type there, naming both',
      repeated,
      async () => {
        const { folder, place, load } = await loaded(goodLake())
        await place.run('ALTER TABLE ledger DROP COLUMN asset_symbol')
        await place.run(`ALTER TABLE ledger ADD COLUMN asset_symbol ${engine.integer}`)
        await writeExport(folder, within(goodLake(), 0, 300), { cuts: [0, 300] })
        await expect(load()).rejects.toMatchObject({
          code: 'LOAD_FAILED',
          message: expect.stringContaining(
            `the column asset_symbol is ${engine.integer}, expected ${engine.text}`,
          ),
        })
        await expectLake(place, goodLake(), { tables: ['erc20_transfers'] })
      },
    )

    test('can be loaded into tables with a prefix', repeated, async () => {
      const folder = join(tempFolder(), 'out')
      await writeExport(folder, goodLake())
      const place = await engine.place()
      await loadInto(folder, place.to, { namespace: { prefix: 'w_' } })
      await loadInto(folder, place.to, { namespace: { prefix: 'w_' } })
      await expectLake(place, goodLake(), { prefix: 'w_' })
    })

    test.for(['csv', 'parquet'] as const)(
      'rejects a %s file that differs from the manifest',
      async (ending) => {
        const { folder, place, load } = await loaded(goodLake(), { ending, cuts: [0, 1000] })
        const manifest = await writeExport(folder, hostileLake(), { ending, cuts: [0, 1000] })
        const path = join(folder, manifest.tables.erc20_transfers?.files[0]?.path ?? '')
        const bytes = readFileSync(path)
        bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1
        writeFileSync(path, bytes)
        const failure = await load().catch((thrown: ExportError) => thrown)
        expect(failure).toMatchObject({ code: 'VERIFY_FAILED', message: expect.stringContaining('SHA-256') })
        if (engine.transactions) await expectLake(place, goodLake())
        rmSync(path)
        await expect(load()).rejects.toThrow('the file is missing')
      },
    )

    test('rejects a file whose number of rows differs from the manifest', repeated, async () => {
      const folder = join(tempFolder(), 'out')
      const manifest = await writeExport(folder, goodLake(), { cuts: [0, 1000] })
      const { ledger } = manifest.tables
      const [file] = ledger?.files ?? []
      for (const listed of [ledger, file]) if (listed !== undefined) listed.rows += 1
      writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
      const place = await engine.place()
      const failure = await loadInto(folder, place.to).catch((thrown: ExportError) => thrown)
      expect(failure).toMatchObject({
        code: 'VERIFY_FAILED',
        message: expect.stringContaining('expected 9 rows, found 8'),
      })
    })
  })
}
