import { describe, expect, test } from 'vitest'
import type { Manifest, ManifestFile } from '../../../src/core/model/manifest.ts'
import { TABLES } from '../../../src/core/table/index.ts'
import { type WarehouseScriptOptions, warehouseScript } from '../../../src/load/ddl/warehouse-script.ts'
import { BIGQUERY_RESERVED, SNOWFLAKE_RESERVED } from './reserved-words.ts'
import { type Piece, type Quoting, scanSql, statementsOf } from './scan-statements.ts'

const QUOTING: Record<'bigquery' | 'snowflake', Quoting> = {
  bigquery: { name: '`', backslash: true },
  snowflake: { name: '"', backslash: true },
}

function manifestOf(
  format: 'csv' | 'parquet' | 'orc',
  ranges: readonly (readonly [number, number, number])[],
): Manifest {
  const tables = TABLES.map(({ name, columns }) => {
    const files = ranges.map(([fromBlock, toBlock, rows], at): ManifestFile => {
      const path = `${name}/${name}-${fromBlock}-${toBlock}-${at}.${format}`
      return { path, rows, bytes: 1, sha256: '', fromBlock, toBlock }
    })
    return [name, { rows: 1, columns: [...columns], files }]
  })
  const job = { name: 'demo', chain: "43'114", format } as Manifest['job']
  return { job, tables: Object.fromEntries(tables) } as unknown as Manifest
}

const RANGES = [
  [0, 100, 5],
  [100, 200, 0],
  [300, 400, 7],
] as const

function textOf(given: Partial<WarehouseScriptOptions> & Pick<WarehouseScriptOptions, 'engine'>): string {
  const filesAt = given.engine === 'bigquery' ? 'gs://bucket/out' : '@stage/out'
  const manifest = manifestOf('parquet', RANGES)
  return warehouseScript({ manifest, names: ['lake'], filesAt, unescapeFormulas: true, ...given })
}

const wordsOf = (statement: readonly Piece[]) => statement.map(({ text }) => text).join(' ')
const beginnings = (text: string, quoting: Quoting) =>
  statementsOf(text, quoting).map((statement) =>
    statement
      .slice(0, 2)
      .map((piece) => piece.text)
      .join(' '),
  )

describe('the script for BigQuery', () => {
  test('creates, stages, merges and cleans up each table in this order', () => {
    const each = ['CREATE TABLE', 'LOAD DATA', 'MERGE INTO', 'DROP TABLE']
    expect(beginnings(textOf({ engine: 'bigquery' }), QUOTING.bigquery)).toEqual([
      'CREATE SCHEMA',
      ...TABLES.flatMap(() => each),
    ])
  })

  test('lists exactly the files that have rows', () => {
    const text = textOf({ engine: 'bigquery' })
    const uris = [...text.matchAll(/'(gs:[^']+)'/g)].map(([, uri]) => uri)
    expect(uris).toHaveLength(TABLES.length * 2)
    expect(uris[0]).toBe('gs://bucket/out/transactions/transactions-0-100-0.parquet')
    expect(text).toContain("format = 'PARQUET'")
  })

  test('deletes only rows of this chain in blocks that the files cover', () => {
    const merges = statementsOf(textOf({ engine: 'bigquery' }), QUOTING.bigquery).map(wordsOf)
    const merge = merges.find((statement) => statement.startsWith('MERGE')) ?? ''
    expect(merge).toContain(
      "WHEN NOT MATCHED BY SOURCE AND ( T . chain_id = '43\\'114' OR T . chain_id IN ( SELECT chain_id FROM `lake` . `transactions_stage` ) ) AND ( (",
    )
    expect(merge).toContain('T . block_number > = 0 AND T . block_number < 200 ) OR (')
    expect(merge).toContain('T . block_number > = 300 AND T . block_number < 400 ) ) THEN DELETE')
  })

  test('unescapes formulas in CSV text only', () => {
    const csv = textOf({ engine: 'bigquery', manifest: manifestOf('csv', RANGES) })
    expect(csv).toContain(
      'IF(REGEXP_CONTAINS(`token_name`, r"^\'+[=+\\-@\\t\\r]"), SUBSTR(`token_name`, 2), `token_name`)',
    )
    expect(csv).not.toContain('SUBSTR(`value`')
    expect(csv).toContain('skip_leading_rows = 1')
    expect(csv).toContain('allow_quoted_newlines = true')
    expect(textOf({ engine: 'bigquery' })).not.toContain('REGEXP')
    const kept = textOf({ engine: 'bigquery', manifest: manifestOf('csv', RANGES), unescapeFormulas: false })
    expect(kept).not.toContain('REGEXP')
  })

  test('creates an empty staging table if no file has rows', () => {
    const text = textOf({ engine: 'bigquery', manifest: manifestOf('csv', [[0, 100, 0]]) })
    expect(text).not.toContain('LOAD DATA')
    expect(text).toContain('CREATE OR REPLACE TABLE `lake`.`ledger_stage` (')
  })

  test('loads plain and gzipped files of a table one after the other', () => {
    const manifest = manifestOf('csv', RANGES)
    for (const table of Object.values(manifest.tables)) {
      const last = table.files.at(-1)
      if (last !== undefined) last.path += '.gz'
    }
    const text = textOf({ engine: 'bigquery', manifest, tables: TABLES.slice(0, 1) })
    expect(beginnings(text, QUOTING.bigquery).slice(2, 4)).toEqual(['LOAD DATA', 'LOAD DATA'])
    const [, plain = '', packed = ''] = text.split('LOAD DATA ')
    expect(plain).toMatch(/^OVERWRITE [^;]+-0\.csv'\n/)
    expect(packed).toMatch(/^INTO [^;]+-2\.csv\.gz'\n/)
    expect(plain).not.toContain('.gz')
  })

  test('qualifies the dataset with its project', () => {
    expect(textOf({ engine: 'bigquery', names: ['my-project', 'lake'] })).toContain(
      '`my-project.lake`.`ledger`',
    )
  })
})

describe('the script for Snowflake', () => {
  test('stages outside the transaction, then deletes and merges within it', () => {
    const each = [
      'CREATE TABLE',
      'CREATE OR',
      'COPY INTO',
      'BEGIN',
      'DELETE FROM',
      'MERGE INTO',
      'COMMIT',
      'DROP TABLE',
    ]
    expect(beginnings(textOf({ engine: 'snowflake' }), QUOTING.snowflake)).toEqual([
      'CREATE SCHEMA',
      'ALTER SESSION',
      ...TABLES.flatMap(() => each),
    ])
  })

  test('uploads local files uncompressed to the location that COPY reads', () => {
    const text = textOf({ engine: 'snowflake', folder: "/data/o'neil", filesAt: undefined })
    expect(text).toContain(
      "PUT 'file:///data/o''neil/ledger/ledger-0-100-0.parquet' '@~/walletlake/demo/ledger' AUTO_COMPRESS = FALSE OVERWRITE = TRUE;",
    )
    expect(text).toContain(
      "FROM '@~/walletlake/demo/'\nFILES = (\n  'transactions/transactions-0-100-0.parquet'",
    )
  })

  test('lists at most a thousand files per COPY', () => {
    const many = Array.from({ length: 1001 }, (_, at) => [at, at + 1, 1] as const)
    const text = textOf({
      engine: 'snowflake',
      manifest: manifestOf('parquet', many),
      tables: TABLES.slice(0, 1),
    })
    const files = [...text.matchAll(/FILES = \(([^)]*)\)/g)].map(([, list = '']) => list.split(',').length)
    expect(files).toEqual([1000, 1])
  })

  test('reads CSV with backslashes as text and empty fields as null', () => {
    const text = textOf({ engine: 'snowflake', manifest: manifestOf('csv', RANGES) })
    for (const option of [
      'ESCAPE_UNENCLOSED_FIELD = NONE',
      'EMPTY_FIELD_AS_NULL = TRUE',
      'NULL_IF = ()',
      `FIELD_OPTIONALLY_ENCLOSED_BY = '"'`,
      'SKIP_HEADER = 1',
    ]) {
      expect(text).toContain(option)
    }
    expect(text).not.toContain('MATCH_BY_COLUMN_NAME')
    expect(text).toContain(
      "IFF(STARTSWITH(token_name, '''') AND LEFT(LTRIM(token_name, ''''), 1) IN ('=', '+', '-', '@', CHAR(9), CHAR(13)),",
    )
  })

  test('reads Parquet by column name with timestamps in UTC', () => {
    const text = textOf({ engine: 'snowflake' })
    expect(text).toContain("ALTER SESSION SET TIMEZONE = 'UTC';")
    expect(text).toContain('USE_LOGICAL_TYPE = TRUE)\nMATCH_BY_COLUMN_NAME = CASE_INSENSITIVE')
  })
})

describe.for(['bigquery', 'snowflake'] as const)('every script for %s', (engine) => {
  test('has balanced quotes and brackets and no reserved word as a name', () => {
    const reserved = engine === 'bigquery' ? BIGQUERY_RESERVED : SNOWFLAKE_RESERVED
    for (const format of ['csv', 'parquet'] as const) {
      const text = textOf({ engine, manifest: manifestOf(format, RANGES), prefix: 'w_' })
      expect(statementsOf(text, QUOTING[engine]).length).toBeGreaterThan(20)
      const words = scanSql(text, QUOTING[engine]).filter(({ kind }) => kind === 'word')
      const names = words.map(({ text: word }) => word).filter((word) => word === word.toLowerCase())
      expect(names.filter((name) => reserved.has(name) && name !== 'true')).toEqual([])
    }
  })

  test('is rejected for a format that the warehouse is not known to load', () => {
    expect(() => textOf({ engine, manifest: manifestOf('orc', RANGES) })).toThrow(
      /^walletlake has no script that loads orc files into (?:BigQuery|Snowflake)$/,
    )
  })

  test.for([undefined, 's3://bucket/out', "gs://b/o'ut", 'gs://', '@', '@a b', 'out'])(
    'is rejected for files at %s with an example',
    (filesAt) => {
      expect(() => textOf({ engine, filesAt })).toThrow(
        /--files-at: found .*, expected a location such as (?:gs:|@)/,
      )
    },
  )
})
