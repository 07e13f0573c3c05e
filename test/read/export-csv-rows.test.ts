import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { csvHeader } from '../../src/formats/csv-lines.ts'
import { type CsvColumns, readExportCsvRows, rowsOf } from '../../src/read/export-csv-rows.ts'
import type { TextRow } from '../../src/read/scratch-database.ts'
import { linesOf, MAX_U256, SAMPLE, sample } from '../files/tables.ts'
import { tempFile, tempFolder } from '../helpers/temp-folder.ts'

const WANTED: CsvColumns = {
  columns: SAMPLE.columns,
  names: ['signed', 'name', 'at'],
  isEscaped: true,
}
const HEADER = `${csvHeader(SAMPLE.columns)}\n`

async function all(batches: AsyncIterable<TextRow[]>): Promise<TextRow[]> {
  const rows: TextRow[] = []
  for await (const batch of batches) rows.push(...batch)
  return rows
}

/** Reads file content in chunks of this many bytes. */
function read(text: string, { wanted = WANTED, chunkBytes = 1 << 20 } = {}): Promise<TextRow[]> {
  async function* chunks() {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
  }
  return all(rowsOf(chunks(), wanted))
}

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1 }),
  fc.string({ unit: fc.constantFrom(...'",\r\n=+-@\t \'a;\0', '\ufeff', '\u2028', '😀', 'é'), minLength: 1 }),
)

test.for([true, false])('any text reads back unchanged, escaped: %s', async (isEscaped) => {
  const property = fc.asyncProperty(
    fc.array(fc.option(anyText), { maxLength: 8 }),
    fc.integer({ min: 1, max: 60 }),
    async (names, chunkBytes) => {
      const rows = names.map((name) => sample({ name, signed: '-12' }))
      const text = HEADER + linesOf(rows, { escapeFormulas: isEscaped }).text
      const found = await read(text, { wanted: { ...WANTED, isEscaped }, chunkBytes })
      expect(found).toEqual(names.map((name) => ['-12', name, null]))
    },
  )
  await fc.assert(property, { numRuns: 500 })
})

test('cells have the requested order', async () => {
  const row = sample({ name: 'Ünï', small: 1, wide: 2n, yes: true, at: 3, huge: MAX_U256, exact: '0.5' })
  const names = ['huge', 'exact', 'at', 'name', 'yes', 'signed', 'wide']
  const found = await read(HEADER + linesOf([row]).text, { wanted: { ...WANTED, names } })
  expect(found).toEqual([[MAX_U256, '0.5', '1970-01-01T00:00:00.003Z', 'Ünï', 'true', null, '2']])
})

test('quoted empty text is not null', async () => {
  expect(await read(`${HEADER}"",,,,,,,\n,,,,,,,\n`)).toEqual([
    [null, '', null],
    [null, null, null],
  ])
})

test.for(['a.csv', 'a.csv.gz'])('reads %s in batches, in file order', async (name) => {
  const file = join(tempFolder(), name)
  const names = Array.from({ length: 60_000 }, (_, at) => `a name, number ${at}`)
  const text = HEADER + linesOf(names.map((one) => sample({ name: one }))).text
  writeFileSync(file, name.endsWith('.gz') ? gzipSync(text) : text)
  const batches: TextRow[][] = []
  for await (const batch of readExportCsvRows(file, WANTED)) batches.push(batch)
  expect(batches.length).toBeGreaterThan(1)
  expect(batches.flat().map(([, one]) => one)).toEqual(names)
})

describe('rejects a file if', () => {
  test.for([
    { when: 'it is empty', text: '', says: 'it ends within row 1' },
    { when: 'it ends within its header', text: 'name,sma', says: 'it ends within row 1' },
    { when: 'it ends within a row', text: `${HEADER}a,1,`, says: 'it ends within row 2' },
    { when: 'it ends within quotes', text: `${HEADER}"a,\n\n`, says: 'it ends within row 2' },
    { when: 'a row has fewer fields', text: `${HEADER}a,1\n`, says: 'row 2 has 2 fields, not 8' },
    {
      when: 'a row has more fields',
      text: `${HEADER}a,,,,,,,\na,,,,,,,,\n`,
      says: 'row 3 has 9 fields, not 8',
    },
    {
      when: 'it has other columns',
      text: HEADER.replace('signed', 'sign'),
      says: 'its header does not have signed in the expected position',
    },
  ])('$when', async ({ text, says }) => {
    await expect(read(text)).rejects.toThrow(says)
    await expect(read(text, { chunkBytes: 3 })).rejects.toThrow(says)
  })

  test('its gzip data is damaged', async () => {
    const file = tempFile('a.csv.gz', gzipSync(HEADER).subarray(0, 30))
    await expect(all(readExportCsvRows(file, WANTED))).rejects.toThrow('unexpected end of file')
  })
})

test('does not copy a cell of many megabytes again with every following chunk', async () => {
  let copied = 0
  const { concat } = Buffer
  const spy = vi.spyOn(Buffer, 'concat').mockImplementation((list, length) => {
    copied += list.reduce((sum, { length: bytes }) => sum + bytes, 0)
    return concat(list, length)
  })
  onTestFinished(() => spy.mockRestore())
  const name = 'x'.repeat(8_000_000)
  const rows = [sample({ name }), sample({ name: 'y' })]
  const found = await read(HEADER + linesOf(rows).text, { chunkBytes: 64 * 1024 })
  expect(found.map((row) => row[1]?.length)).toEqual([8_000_000, 1])
  expect(copied).toBeLessThan(4 * name.length)
})
