import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { writeRaw } from '../../src/write/raw.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

test('raw items are kept a line each, those without place last', async () => {
  const folder = tempFolder()
  const bad: unknown[] = []
  async function* transactions() {
    yield [{ item: { n: 1, text: 'ä' } }]
    bad.push({ z: 1 }, { a: 1 }, { z: 1 })
    yield [{ item: { n: 2 } }]
  }
  await writeRaw({ folder, address: '0xa', transactions: transactions(), bad, append: false })
  expect(readdirSync(join(folder, 'raw'))).toEqual(['0xa.ndjson.gz'])
  expect(gunzipSync(readFileSync(join(folder, 'raw', '0xa.ndjson.gz'))).toString()).toBe(
    '{"n":1,"text":"ä"}\n{"n":2}\n{"a":1}\n{"z":1}\n',
  )
})

test('a reading that fails leaves no raw file behind', async () => {
  const folder = tempFolder()
  // biome-ignore lint/correctness/useYield: it fails before the first item.
  async function* transactions(): AsyncGenerator<{ item: unknown }[]> {
    throw new Error('the spool broke')
  }
  const writing = writeRaw({ folder, address: '0xa', transactions: transactions(), bad: [], append: false })
  await expect(writing).rejects.toThrow('the spool broke')
  expect(readdirSync(join(folder, 'raw'))).toEqual([])
})

test('appended items come after those that the file holds', async () => {
  const folder = tempFolder()
  async function* one(n: number) {
    yield [{ item: { n } }]
  }
  for (const n of [1, 2]) {
    await writeRaw({ folder, address: '0xa', transactions: one(n), bad: [], append: true })
  }
  expect(gunzipSync(readFileSync(join(folder, 'raw', '0xa.ndjson.gz'))).toString()).toBe('{"n":1}\n{"n":2}\n')
})
