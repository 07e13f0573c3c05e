import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { openDataFile } from '../../src/formats/index.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const MIB = 1024 * 1024
const HEADER = 'a,"b\nc"\n'
const rowOf = (bytes: number) => `1,"${'x""\n'.repeat(Math.ceil(bytes / 4))}"\n`

async function open(rows: readonly string[], name = 'a.csv') {
  const folder = tempFolder()
  const content = HEADER + rows.join('')
  writeFileSync(join(folder, name), name.endsWith('.gz') ? gzipSync(content, { level: 1 }) : content)
  const file = await openDataFile(join(folder, name), 'csv', folder)
  const segments = () => file.paths.map((path) => readFileSync(path, 'utf8'))
  return { folder, file, segments }
}

describe('a CSV file', () => {
  test.for(['a.csv', 'a.csv.gz'])('with rows of normal length is read in place: %s', async (name) => {
    const { folder, file } = await open(Array<string>(2_000).fill(rowOf(10_000)), name)
    expect(file).toMatchObject({ paths: [join(folder, name)], isGzipped: name !== 'a.csv', maxRowBytes: MIB })
    expect(readdirSync(folder)).toEqual([name])
  })

  test('is configured with the length of its longest row, to save memory', async () => {
    const rows = [rowOf(10), rowOf(3 * MIB), ...Array<string>(1_500).fill(rowOf(10_000))]
    expect((await open(rows, 'a.csv')).file.maxRowBytes).toBe(rows[1]?.length)
  })

  test.for(['a.csv', 'a.csv.gz'])('with rows of 20 MiB is split between rows: %s', async (name) => {
    const rows = [rowOf(10), rowOf(20 * MIB), rowOf(20 * MIB), rowOf(5)]
    const { file, segments } = await open(rows, name)
    expect(file).toMatchObject({ isGzipped: false, maxRowBytes: Math.max(...rows.map((row) => row.length)) })
    const expected = [`${rows[0]}${rows[1]}`, `${rows[2]}${rows[3]}`]
    const found = segments()
    expect(found.map((segment) => segment.length)).toEqual(
      expected.map((text) => HEADER.length + text.length),
    )
    expect(found.every((segment, at) => segment === HEADER + expected[at])).toBe(true)
  })

  test('with many long rows is split into segments below 31 MB', { tags: ['long'] }, async () => {
    const rows = Array.from({ length: 1_000 }, (_, at) => `${at},"${'"",\n'.repeat(20_000)}"\n`)
    const { segments } = await open(rows)
    const found = segments()
    expect(Math.max(...found.map((segment) => segment.length))).toBeLessThan(31_000_000)
    expect(found.map((segment) => segment.slice(HEADER.length)).join('') === rows.join('')).toBe(true)
  })

  test('keeps a last row without a line feed', async () => {
    const { segments } = await open([rowOf(17 * MIB), '2,last'])
    expect(segments().at(-1)?.endsWith('\n2,last')).toBe(true)
  })

  test('removes its segments when it is closed', async () => {
    const { folder, file } = await open([rowOf(17 * MIB)])
    expect(readdirSync(folder)).toHaveLength(2)
    await file.close()
    expect(readdirSync(folder)).toEqual(['a.csv'])
  })

  test('that is missing or not gzip is passed on to its reader', async () => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'a.csv.gz'), 'no gzip')
    for (const name of ['a.csv.gz', 'b.csv'])
      expect(await openDataFile(join(folder, name), 'csv', folder)).toMatchObject({
        paths: [join(folder, name)],
      })
  })
})
