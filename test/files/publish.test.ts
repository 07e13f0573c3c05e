import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { Manifest, ManifestFile } from '../../src/core/model/manifest.ts'
import { publish, readManifestIfExists } from '../../src/files/publish.ts'
import { folderStore } from '../../src/storage/store.ts'
import { leaveTemporary } from '../helpers/leave-temporary.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const NAME = (n: number) => `ledger/ledger-000000000000-000000000009-000${n}.csv`

function manifestOf(files: Pick<ManifestFile, 'path' | 'sha256'>[]): Manifest {
  const listed = files.map((file) => ({ ...file, rows: 1, bytes: 1, fromBlock: 0, toBlock: 9 }))
  const job = {
    name: 'n',
    chain: '1',
    startBlock: 0,
    endBlock: 9,
    format: 'csv',
    compression: 'none',
    addresses: 0,
    addressesSha256: sha256(''),
  } as Manifest['job']
  const tables = { ledger: { rows: 1, columns: [], files: listed } }
  const versions = { manifestVersion: 1, schemaVersion: 1, generator: 'walletlake 0' } as const
  return { ...versions, job, coverage: [], tables, rejects: 0 }
}

/** Stages and publishes parts with the given contents by path. */
async function publishTexts(folder: string, texts: Record<string, string>, rejects: string[] = []) {
  const parts = Object.entries(texts).map(([path, text], at) => {
    const staged = join(folder, `staged-${at}`)
    writeFileSync(staged, text)
    return { staged, path, rows: 1, bytes: text.length, sha256: sha256(text), fromBlock: 0, toBlock: 9 }
  })
  await publish({
    store: folderStore(folder),
    manifest: { ...manifestOf(parts), rejects: rejects.length },
    parts,
    rejects,
  })
}

test('parts get their final names and the manifest lists them', async () => {
  const folder = tempFolder()
  await publishTexts(folder, { [NAME(0)]: 'zero', [NAME(1)]: 'one' })
  expect(readFileSync(join(folder, NAME(0)), 'utf8')).toBe('zero')
  expect(readdirSync(folder).sort()).toEqual(['ledger', 'manifest.json'])
  const manifest = await readManifestIfExists(folder)
  expect(manifest?.tables.ledger?.files.map(({ path }) => path)).toEqual([NAME(0), NAME(1)])
})

test('files that the new manifest does not list are removed', async () => {
  const folder = tempFolder()
  await publishTexts(folder, { [NAME(0)]: 'zero', [NAME(1)]: 'one' }, ['{"a":1}', '{"b":2}'])
  expect(readFileSync(join(folder, 'rejects.ndjson'), 'utf8')).toBe('{"a":1}\n{"b":2}\n')
  writeFileSync(join(folder, 'ledger', 'mine.txt'), 'an unrelated file')
  await publishTexts(folder, { [NAME(0)]: 'changed' })
  expect(readdirSync(join(folder, 'ledger')).sort()).toEqual([NAME(0).slice(7), 'mine.txt'])
  expect(readFileSync(join(folder, NAME(0)), 'utf8')).toBe('changed')
  expect(existsSync(join(folder, 'rejects.ndjson'))).toBe(false)
})

test.for([
  { what: 'keeps one listing', raw: new Set(['0xa']), remaining: ['0xa.ndjson.gz', 'mine.gz'] },
  { what: 'keeps none', raw: new Set<string>(), remaining: ['mine.gz'] },
  {
    what: 'leaves them as they are',
    raw: undefined,
    remaining: ['0xa.ndjson.gz', '0xb.ndjson.gz', 'mine.gz'],
  },
])('an export that $what has these raw files: $remaining', async ({ raw, remaining }) => {
  const folder = tempFolder()
  mkdirSync(join(folder, 'raw'))
  for (const name of ['0xa.ndjson.gz', '0xb.ndjson.gz', 'mine.gz'])
    writeFileSync(join(folder, 'raw', name), '')
  await publish({ store: folderStore(folder), manifest: manifestOf([]), parts: [], rejects: [], raw })
  expect(readdirSync(join(folder, 'raw')).sort()).toEqual(remaining)
})

test('parts that no manifest lists, left by a killed run, are removed', async () => {
  const folder = tempFolder()
  for (const path of [NAME(3), 'transactions/transactions-000000000000-000000000009-0000.parquet']) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), 'left')
  }
  for (const path of ['raw/0xa.ndjson.gz', NAME(0), 'ledger/day=2023-11-14/x.csv', 'manifest.json'])
    await leaveTemporary(join(folder, path))
  await publishTexts(folder, { [NAME(0)]: 'zero' })
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  expect(files.map(({ name }) => name).sort()).toEqual([NAME(0).slice(7), 'manifest.json'])
})

test('parts with block numbers of more than twelve digits are removed and retained like others', async () => {
  const folder = tempFolder()
  const name = (n: number) => `ledger/ledger-1000000000000-1000000000009-000${n}.csv`
  await publishTexts(folder, { [name(0)]: 'zero' })
  writeFileSync(join(folder, name(1)), 'left')
  await publishTexts(folder, { [name(0)]: 'zero' })
  expect(readdirSync(join(folder, 'ledger'))).toEqual([name(0).slice(7)])
})

test('empty partition folders of a killed run are removed, other folders are kept', async () => {
  const folder = tempFolder()
  for (const name of ['day=2023-11-14', 'month=2023-11', 'blocks=000000000000-000000000100', 'mine', 'day=x'])
    mkdirSync(join(folder, 'ledger', name), { recursive: true })
  writeFileSync(join(folder, 'ledger', 'month=2023-11', 'mine.txt'), 'an unrelated file')
  await publishTexts(folder, { [NAME(0)]: 'zero' })
  expect(readdirSync(join(folder, 'ledger')).sort()).toEqual([
    'day=x',
    NAME(0).slice(7),
    'mine',
    'month=2023-11',
  ])
})

test('the previous manifest is removed before the rejects that it counts', async () => {
  const folder = tempFolder()
  await publishTexts(folder, { [NAME(0)]: 'zero' }, ['{"a":1}', '{"b":2}'])
  rmSync(join(folder, 'rejects.ndjson'))
  mkdirSync(join(folder, 'rejects.ndjson'))
  for (const more of [['{"a":1}', '{"b":2}', '{"c":3}'], []]) {
    const failing = publishTexts(folder, { [NAME(0)]: 'zero' }, more)
    await expect(failing).rejects.toMatchObject({ code: 'OUTPUT_FAILED' })
    expect((await readManifestIfExists(folder))?.rejects).toBe(more.length === 0 ? undefined : 2)
  }
})

test('a manifest edited by hand removes nothing outside the output', async () => {
  const folder = tempFolder()
  const output = join(folder, 'output')
  mkdirSync(output)
  writeFileSync(join(folder, 'precious.csv'), 'keep')
  const paths = ['../precious.csv', 'ledger/../../precious.csv', join(folder, 'precious.csv')]
  const edited = manifestOf(paths.map((path) => ({ path, sha256: sha256('') })))
  writeFileSync(join(output, 'manifest.json'), JSON.stringify(edited))
  await publishTexts(output, { [NAME(0)]: 'zero' })
  expect(readFileSync(join(folder, 'precious.csv'), 'utf8')).toBe('keep')
})

test('no manifest lists bytes that do not exist', async () => {
  const folder = tempFolder()
  await publishTexts(folder, { [NAME(0)]: 'zero' })
  const part = { path: NAME(0), rows: 1, bytes: 3, sha256: sha256('new'), fromBlock: 0, toBlock: 9 }
  const missing = { ...part, staged: join(folder, 'never-staged') }
  const publishing = publish({
    store: folderStore(folder),
    manifest: manifestOf([missing]),
    parts: [missing],
    rejects: [],
  })
  await expect(publishing).rejects.toMatchObject({ code: 'OUTPUT_FAILED' })
  expect(await readManifestIfExists(folder)).toBeUndefined()
})

test.for([
  '',
  '{',
  '[]',
  'null',
  '{"manifestVersion":2,"tables":{}}',
  '{"manifestVersion":1,"tables":null}',
  '{"manifestVersion":1,"tables":{"ledger":null}}',
  '{"manifestVersion":1,"tables":{"ledger":{"files":{}}}}',
  '{"manifestVersion":1,"tables":{"ledger":{"files":[null]}}}',
])('the text %j is not a manifest', async (text) => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'manifest.json'), text)
  expect(await readManifestIfExists(folder)).toBeUndefined()
})
