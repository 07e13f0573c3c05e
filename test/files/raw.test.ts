import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { parseBytes } from '../../src/core/platform/byte-text.ts'
import { writeRaw } from '../../src/files/raw.ts'
import { dataApi } from '../../src/sources/data-api/data-api.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

test('raw items are written one per line, those without a position last', async () => {
  const folder = tempFolder()
  const bad: unknown[] = []
  function* transactions() {
    yield [{ item: parseBytes(Buffer.from('{"n":1,"text":"ä"}')) }]
    bad.push({ z: 1 }, { a: 1 }, { z: 1 })
    yield [{ item: { n: 2 } }]
  }
  await writeRaw({ source: dataApi, folder, address: '0xa', transactions: transactions(), bad })
  expect(readdirSync(join(folder, 'raw'))).toEqual(['0xa.ndjson.gz'])
  expect(gunzipSync(readFileSync(join(folder, 'raw', '0xa.ndjson.gz'))).toString()).toBe(
    '{"n":1,"text":"ä"}\n{"n":2}\n{"a":1}\n{"z":1}\n',
  )
})

test('a failed read leaves no raw file', async () => {
  const folder = tempFolder()
  // biome-ignore lint/correctness/useYield: it fails before the first item.
  function* transactions(): Generator<{ item: unknown }[]> {
    throw new Error('the checkpoint is damaged')
  }
  const writing = writeRaw({ source: dataApi, folder, address: '0xa', transactions: transactions(), bad: [] })
  await expect(writing).rejects.toThrow('the checkpoint is damaged')
  expect(readdirSync(join(folder, 'raw'))).toEqual([])
})

const inBlock = (blockNumber: number) => ({
  nativeTransaction: { blockNumber, blockIndex: 0, txHash: '0x1', blockTimestamp: 1, note: '\u2028' },
})

test('items are appended once, even if the append is repeated', async () => {
  const folder = tempFolder()
  function* one(block: number) {
    yield [{ item: parseBytes(Buffer.from(JSON.stringify(inBlock(block)))) }]
  }
  const bad = [[{ lost: 1 }], [{ lost: 2 }], [{ lost: 2 }]]
  for (const [at, block] of [5, 9, 9].entries()) {
    const items = { transactions: one(block), bad: bad[at] ?? [] }
    await writeRaw({ source: dataApi, folder, address: '0xa', ...items, appendFrom: block })
  }
  const lines = [inBlock(5), { lost: 1 }, inBlock(9), { lost: 2 }].map((item) => `${JSON.stringify(item)}\n`)
  expect(gunzipSync(readFileSync(join(folder, 'raw', '0xa.ndjson.gz'))).toString()).toBe(lines.join(''))
})

test('a raw file that cannot be decompressed fails with OUTPUT_FAILED', async () => {
  const folder = tempFolder()
  mkdirSync(join(folder, 'raw'))
  writeFileSync(join(folder, 'raw', '0xa.ndjson.gz'), 'no gzip')
  function* none(): Generator<{ item: unknown }[]> {}
  const writing = writeRaw({
    source: dataApi,
    folder,
    address: '0xa',
    transactions: none(),
    bad: [],
    appendFrom: 1,
  })
  await expect(writing).rejects.toMatchObject({ code: 'OUTPUT_FAILED' })
})
