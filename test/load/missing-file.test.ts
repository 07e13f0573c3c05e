import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { loadInto } from '../../src/load/load.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { goodLake } from '../verify/export/model-export.ts'
import { duckdb, sqlite, urlOf } from './engines.ts'
import { writeExport } from './scenarios.ts'

async function written() {
  const folder = join(tempFolder(), 'out')
  const manifest = await writeExport(folder, goodLake())
  return { folder, files: Object.values(manifest.tables).flatMap(({ files }) => files) }
}

test.for([
  { kind: 'duckdb', engine: 'DuckDB' },
  { kind: 'sqlite', engine: 'SQLite' },
])('rejects a file that is not a $engine database and creates no files', async ({ kind, engine }) => {
  const { folder } = await written()
  const place = tempFolder()
  writeFileSync(join(place, 'README.md'), '# text, not a database\n'.repeat(500))
  const failure = await loadInto(folder, urlOf(`${kind}:${join(place, 'README.md')}`)).catch(
    (thrown) => thrown,
  )
  expect(failure).toMatchObject({
    code: 'LOAD_FAILED',
    message: expect.stringContaining(`README.md: the file is not a ${engine} database`),
    fix: `Name a ${engine} database after ${kind}:, or a file that does not exist yet.`,
  })
  expect(readdirSync(place)).toEqual(['README.md'])
})

test.for([duckdb, sqlite])('reports a missing file before it loads any into $name', async (engine) => {
  const { folder, files } = await written()
  const last = files.at(-1)?.path ?? ''
  rmSync(join(folder, last))
  const { to } = await engine.place()
  const loaded: string[] = []
  const onFile = (name: string) => void loaded.push(name)
  const failure = await loadInto(folder, to, { onFile }).catch((thrown) => thrown)
  expect(failure).toMatchObject({ code: 'VERIFY_FAILED', message: `${last}: the file is missing` })
  expect(loaded).toEqual([])
  expect('file' in to && readdirSync(dirname(to.file))).toEqual([])
})
