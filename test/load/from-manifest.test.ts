import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { loadInto } from '../../src/load/load.ts'
import { NESTED_JSON, TOO_DEEP_JSON } from '../helpers/deep-json.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { goodLake } from '../verify/export/model-export.ts'
import { duckdb } from './engines.ts'
import { expectLake, writeExport } from './scenarios.ts'
import { startBucket } from './start-bucket.ts'
import { readDraft } from './write-export.ts'

async function written() {
  const folder = join(tempFolder(), 'out')
  await writeExport(folder, goodLake())
  return { folder, place: await duckdb.place() }
}

const retryDelayMs = 1

describe('a manifest', () => {
  test.for([
    { by: 'path', where: (folder: string) => join(folder, 'manifest.json') },
    { by: 'file address', where: (folder: string) => pathToFileURL(join(folder, 'manifest.json')).href },
    { by: 'folder', where: (folder: string) => `${folder}/` },
  ])('is found by its $by as the same output', async ({ where }) => {
    const { folder, place } = await written()
    await loadInto(folder, place.to)
    expect(await loadInto(where(folder), place.to)).toMatchObject({ loaded: {}, skipped: 6 })
  })

  test('is found in a folder whose name contains glob characters', { tags: ['long'] }, async () => {
    const folder = join(tempFolder(), 'o[u]t *?')
    await writeExport(folder, goodLake())
    const place = await duckdb.place()
    await loadInto(folder, place.to)
    await expectLake(place, goodLake())
  })

  test('is fetched with its files by a URL whose query string is sent but never printed', async () => {
    const { folder, place } = await written()
    const { host, requests } = await startBucket(folder)
    const names: string[] = []
    await loadInto(`http://${host}/manifest.json?sig=s3cret`, place.to, {
      onFile: (name) => names.push(name),
    })
    await expectLake(place, goodLake())
    expect(requests.every((url) => url.endsWith('?sig=s3cret'))).toBe(true)
    expect(names.join()).not.toContain('s3cret')
    const records = await place.run('SELECT DISTINCT location FROM walletlake_loads')
    expect(records).toEqual([{ location: `http://${host}` }])
  })

  test('is fetched with the credentials of the URL in a header', async () => {
    const { folder, place } = await written()
    const seen = new Set<string | undefined>()
    const { host } = await startBucket(folder, ({ headers }) => {
      seen.add(headers.authorization)
      return false
    })
    await loadInto(`http://me:s3%40cret@${host}/manifest.json`, place.to)
    expect([...seen]).toEqual([`Basic ${Buffer.from('me:s3@cret').toString('base64')}`])
  })

  test('is requested again after transient errors', { tags: ['long'] }, async () => {
    const { folder, place } = await written()
    let failures = 0
    const { host } = await startBucket(folder, (_, response) => {
      failures += 1
      if (failures % 3 === 0) return false
      if (failures % 3 === 1) response.writeHead(503).end()
      else response.socket?.destroy()
      return true
    })
    await loadInto(`http://${host}/manifest.json`, place.to, { retryDelayMs })
    await expectLake(place, goodLake())
  })

  test.for([
    { status: 403, tries: 1 },
    { status: 404, tries: 1 },
    { status: 500, tries: 4 },
  ])('fails after $tries attempts with status $status', async ({ status, tries }) => {
    const { folder, place } = await written()
    const { host, requests } = await startBucket(folder, (_, response) => {
      response.writeHead(status).end()
      return true
    })
    const where = `http://me:s3cret@${host}/manifest.json?sig=s3cret`
    const failure = await loadInto(where, place.to, { retryDelayMs }).catch((thrown) => thrown)
    expect(failure).toMatchObject({
      code: 'LOAD_FAILED',
      message: expect.stringContaining(`status ${status}`),
    })
    expect(requests).toHaveLength(tries)
    expect(`${failure.message}${failure.stack}`).not.toContain('s3cret')
  })

  test('with a duplicate row is rejected, and the fix does not claim that nothing was loaded', async () => {
    const { folder, place } = await written()
    const lake = goodLake()
    lake.ledger.push({ ...lake.ledger[0], block_number: '500' })
    lake.ledger.sort((a, b) => Number(a.block_number) - Number(b.block_number))
    await writeExport(folder, lake, { cuts: [0, 200, 1000] })
    const { host } = await startBucket(folder)
    const failure = await loadInto(`http://${host}/manifest.json`, place.to, {
      retryDelayMs,
      commit: 'file',
    }).catch((thrown) => thrown)
    expect(failure).toMatchObject({
      code: 'VERIFY_FAILED',
      fix: expect.stringContaining('Export again with run --fresh'),
    })
    const [loaded] = await place.run('SELECT count(*) AS files FROM walletlake_loads WHERE row_count > 0')
    expect(Number(loaded?.files)).toBeGreaterThan(0)
    expect(failure.fix).not.toContain('Nothing was loaded')
  })

  test('is rejected if the content of a fetched file differs', async () => {
    const { folder, place } = await written()
    const path = readDraft(folder).tables.ledger?.files[0]?.path ?? ''
    const text = readFileSync(join(folder, path), 'utf8')
    writeFileSync(join(folder, path), text.replace('fee', 'gee'))
    const { host } = await startBucket(folder)
    const failure = await loadInto(`http://${host}/manifest.json`, place.to).catch((thrown) => thrown)
    expect(failure).toMatchObject({ code: 'VERIFY_FAILED' })
    expect(await place.run('SHOW TABLES')).toEqual([])
  })

  test('that changed during the load is reported as the cause', async () => {
    const { folder, place } = await written()
    const onFile = (name: string) => {
      if (!name.startsWith('ledger')) return
      writeFileSync(join(folder, name), 'another content')
      writeFileSync(join(folder, 'manifest.json'), '{}')
    }
    const failure = await loadInto(folder, place.to, { onFile }).catch((thrown) => thrown)
    expect(failure).toMatchObject({
      code: 'LOAD_FAILED',
      message: expect.stringContaining('the output changed'),
    })
  })

  test.for([
    { wrong: 'invalid JSON', text: () => '{', says: 'not JSON' },
    { wrong: 'another version', text: change((draft) => (draft.manifestVersion = 2)), says: 'version 1' },
    {
      wrong: 'no job',
      text: change((draft) => (draft.job = {})),
      says: 'job.name: expected text, found absent',
    },
    {
      wrong: 'no tables',
      text: change((draft) => Object.assign(draft, { tables: null })),
      says: 'tables: expected an object, found null',
    },
    {
      wrong: 'an unknown format',
      text: change((draft) => Object.assign(draft.job, { format: 'orc' })),
      says: 'job.format: expected csv or parquet, found "orc"',
    },
    {
      wrong: 'an unknown table',
      text: change((draft) => (draft.tables.x = draft.tables.ledger as never)),
      says: 'unknown table, x',
    },
    {
      wrong: 'a missing column',
      text: change(({ tables }) => tables.ledger?.columns.pop()),
      says: 'ledger lacks the column source',
    },
    {
      wrong: 'an additional column',
      text: change(({ tables }) =>
        tables.ledger?.columns.push({ name: 'more', type: 'text', nullable: true }),
      ),
      says: 'ledger has a column more, which this version does not write',
    },
    {
      wrong: 'a path that leads out of the folder',
      text: changePath('ledger/../../etc/passwd.csv'),
      says: 'path: expected a relative path in the folder of a table, found "ledger/',
    },
    {
      wrong: 'a path into another table',
      text: changePath('transactions/ledger-0.csv'),
      says: 'is invalid',
    },
    {
      wrong: 'a deeply nested path',
      text: deepened(changePath(HERE)),
      says: 'path: expected a relative path in the folder of a table, found [[[',
    },
    {
      wrong: 'a deeply nested column name',
      text: deepened(
        change(({ tables }) => tables.ledger?.columns.push({ name: HERE, type: 'text', nullable: true })),
      ),
      says: 'name: expected text, found [[[',
    },
    {
      wrong: 'a value in 5,000 lists',
      text: () => `{"more":${TOO_DEEP_JSON[0]?.text}}`,
      says: 'it is nested deeper than 100 levels',
    },
    {
      wrong: 'an absolute path',
      text: changePath('/etc/passwd.csv'),
      says: 'path: expected a relative path in the folder of a table, found "/etc',
    },
  ])('with $wrong is rejected', async ({ text, says }) => {
    const { folder, place } = await written()
    writeFileSync(join(folder, 'manifest.json'), text(folder))
    const failure = await loadInto(folder, place.to).catch((thrown) => thrown)
    expect(failure).toMatchObject({ code: 'VERIFY_FAILED', message: expect.stringContaining(says) })
  })

  test.for([
    { where: (folder: string) => join(folder, 'nowhere'), says: 'there is no folder' },
    { where: (folder: string) => join(folder, 'ledger'), says: 'there is no manifest' },
    { where: () => 'http://', says: 'not a valid URL' },
    { where: () => 's3://bucket/lake', says: 'cannot read a manifest from s3://bucket/lake' },
  ])('that does not exist is a usage error: $says', async ({ where, says }) => {
    const { folder, place } = await written()
    const failure = await loadInto(where(folder), place.to).catch((thrown) => thrown)
    expect(failure).toMatchObject({ code: 'USAGE', message: expect.stringContaining(says) })
  })
})

type Draft = ReturnType<typeof readDraft>

function change(work: (draft: Draft) => unknown) {
  return (folder: string) => {
    const draft = readDraft(folder)
    work(draft)
    return JSON.stringify(draft)
  }
}

function changePath(path: string) {
  return change(({ tables }) => {
    const [file] = tables.ledger?.files ?? []
    if (file !== undefined) file.path = path
  })
}

/** Placeholder for a deeply nested value. */
const HERE = 'deeply nested value'

function deepened(text: (folder: string) => string) {
  return (folder: string) => text(folder).replaceAll(JSON.stringify(HERE), NESTED_JSON[0]?.text ?? '')
}
