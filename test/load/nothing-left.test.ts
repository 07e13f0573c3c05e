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
])('a file that is no database of $engine is refused and nothing left', async ({ kind, engine }) => {
  const { folder } = await written()
  const place = tempFolder()
  writeFileSync(join(place, 'README.md'), '# a text, and no database\n'.repeat(500))
  const failure = await loadInto(folder, urlOf(`${kind}:${join(place, 'README.md')}`)).catch(
    (thrown) => thrown,
  )
  expect(failure).toMatchObject({
    code: 'LOAD_FAILED',
    message: expect.stringContaining(`README.md: the file is not a database of ${engine}`),
    fix: `Name a ${engine} database after ${kind}:, or a file that is not there yet.`,
  })
  expect(readdirSync(place)).toEqual(['README.md'])
})

test.for([duckdb, sqlite])('a file that is gone is told before any is loaded into $name', async (engine) => {
  const { folder, files } = await written()
  const last = files.at(-1)?.path ?? ''
  rmSync(join(folder, last))
  const { to } = await engine.place()
  const told: string[] = []
  const onFile = (name: string) => void told.push(name)
  const failure = await loadInto(folder, to, { onFile }).catch((thrown) => thrown)
  expect(failure).toMatchObject({ code: 'VERIFY_FAILED', message: `${last}: the file is missing` })
  expect(told).toEqual([])
  expect('file' in to && readdirSync(dirname(to.file))).toEqual([])
})
