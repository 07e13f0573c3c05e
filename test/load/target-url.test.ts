import { describe, expect, test } from 'vitest'
import { parseTargetUrl } from '../../src/load/addresses.ts'

describe('the address of a target', () => {
  test.for([
    { text: 'duckdb:lake.db', is: { kind: 'duckdb', file: 'lake.db' } },
    { text: 'duckdb:///data/lake.db', is: { kind: 'duckdb', file: '/data/lake.db' } },
    { text: 'SQLITE:/data/a b.db', is: { kind: 'sqlite', file: '/data/a b.db' } },
    { text: 'postgres://me:pw@db:5433/lake', is: { kind: 'postgres', title: 'postgres://db:5433/lake' } },
    { text: 'postgresql:///lake?host=/run/pg', is: { kind: 'postgres', title: 'postgres:///run/pg/lake' } },
    { text: 'clickhouse://db/lake', is: { kind: 'clickhouse', url: 'http://db:8123', database: 'lake' } },
    {
      text: 'clickhouse://db:8443',
      is: { url: 'https://db:8443', database: 'default', username: 'default' },
    },
    { text: 'clickhouses://u:p%40w@db/x', is: { url: 'https://db:8443', username: 'u', password: 'p@w' } },
    { text: 'clickhouse://db:9000/x?secure=1', is: { url: 'https://db:9000' } },
    { text: 'bigquery:my-project.lake', is: { kind: 'bigquery', names: ['my-project', 'lake'] } },
    { text: 'snowflake:', is: { kind: 'snowflake', names: [] } },
  ])('is parsed: $text', ({ text, is }) => {
    expect(parseTargetUrl(text, {})).toMatchObject(is)
  })

  test('takes missing parts from the environment', () => {
    const env = { CLICKHOUSE_USER: 'me', CLICKHOUSE_PASSWORD: 'secret', PGHOST: 'db', PGDATABASE: 'lake' }
    expect(parseTargetUrl('clickhouse://db/x', env)).toMatchObject({ username: 'me', password: 'secret' })
    expect(parseTargetUrl('postgres:///', env)).toMatchObject({ title: 'postgres://db/lake' })
  })

  test.for([
    '',
    'lake.db',
    '/data/lake.db',
    'duckdb:',
    'duckdb::memory:',
    'sqlite:',
    'mysql://me:s3cret@db/lake',
    'postgres://me:s3cret@@[db/lake',
    'postgres://me:s3cret%zz@db/lake',
    'clickhouse://me:s3cret@db:port/lake',
    'bigquery:a.b.c',
    'bigquery:',
    "snowflake:a.b'; DROP",
  ])('is rejected with a fix that lists the valid forms: %s', (text) => {
    const failure = (() => {
      try {
        return parseTargetUrl(text, {})
      } catch (thrown) {
        return thrown
      }
    })()
    expect(failure).toMatchObject({ code: 'USAGE', fix: expect.stringContaining('postgres://USER@HOST') })
    expect((failure as Error).message).not.toContain('s3cret')
  })

  test('is titled without user, password and query string', () => {
    for (const scheme of ['postgres', 'clickhouse']) {
      const { title } = parseTargetUrl(`${scheme}://me:s3cret@db/lake?password=other&sslmode=require`, {})
      expect(title).not.toMatch(/me|s3cret|other|ssl/)
    }
  })
})
