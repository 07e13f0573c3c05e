import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ExportError } from '../../src/core/model/errors.ts'
import { readRawRecords, readRecords } from '../../src/read/csv-records.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'

const folder = suiteFolder()

function fileOf(text: string): string {
  const file = join(folder, 'given.csv')
  writeFileSync(file, text)
  return file
}

async function recordsOf(text: string, requiredColumns = ['a', 'b']) {
  const records: unknown[] = []
  await readRecords(fileOf(text), requiredColumns, ({ line, cells }) => records.push({ line, cells }))
  return records
}

describe('records of a CSV file', () => {
  test.for(['a,b\n1,2\n', '\ufeffa,b\r\n1,2\r\n', 'b,a\n2,1', '\n a , b \n\n1,2\n\n', '"a","b"\n"1","2"\n'])(
    'are read by column name: %j',
    async (text) => {
      expect(await recordsOf(text)).toEqual([{ line: expect.any(Number), cells: { a: '1', b: '2' } }])
    },
  )

  test('may contain commas, quotes and line breaks in quotes, and have the number of their last line', async () => {
    expect(await recordsOf('a,b\n"1,\n""x""",2\n3,4\n')).toEqual([
      { line: 3, cells: { a: '1,\n"x"', b: '2' } },
      { line: 4, cells: { a: '3', b: '4' } },
    ])
  })

  test.for([
    { text: 'a\n1\n', says: 'given.csv:1: found no column b, expected a header with a, b' },
    { text: '', says: 'given.csv:1: found nothing, expected a header with a, b' },
    { text: 'a,b,a\n1,2,3\n', says: 'given.csv:1: found two columns a, expected each name once' },
    { text: 'x,a,b, x\n1,2,3,4\n', says: 'given.csv:1: found two columns x, expected each name once' },
    {
      text: 'a,b\n1,2,5\n',
      says: 'given.csv:2: found 3 cells, expected 2 as in the header (decimals need a point,',
    },
    { text: 'a,b\n1,2\n1\n', says: 'given.csv:3: found one cell, expected 2 as in the header' },
    { text: 'a,b\n1,"2\n', says: 'expected CSV: a comma between cells, quotes closed' },
    { text: `a,b\n${'1,2\n'.repeat(9)}1,"2\n${'1,2\n'.repeat(99)}`, says: 'quotes closed' },
    { text: 'a,b\n1,"2"x\n', says: 'given.csv:2: found ' },
  ])('are refused with the line number if they are invalid: $says', async ({ text, says }) => {
    await expect(recordsOf(text)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(says),
      fix: 'Correct the line, then run the same command again.',
    })
  })

  test('are refused with the column that a misspelt one most likely is', async () => {
    await expect(recordsOf('adress,name\n1,2\n', ['address', 'name'])).rejects.toThrow(
      'found no column address, expected a header with address, name (did you mean address instead of adress?)',
    )
  })

  test('are refused without a guess if most columns are missing, because the file is another one', async () => {
    await expect(recordsOf('name,adress\n1,2\n', ['date', 'asset', 'price'])).rejects.toThrow(
      /found no column date, asset, price, expected a header with date, asset, price$/,
    )
  })

  test.for(['a;b\n1;2\n', '\ufeff"a";"b"\r\n"1";"2"\r\n', 'a;b\n"1";2\n', 'sep=;\na;b\n1,5;2\n'])(
    'are refused if cells are separated by semicolons: %j',
    async (text) => {
      await expect(recordsOf(text)).rejects.toMatchObject({
        code: 'USAGE',
        message: expect.stringMatching(
          /given\.csv:[12]: found semicolons between the cells, expected commas$/,
        ),
        fix: expect.stringMatching(/^Save the file with commas between its cells/),
      })
    },
  )

  test('may contain semicolons', async () => {
    expect(await recordsOf('a,b,;\n";",1;2,3\n', ['a', 'b'])).toEqual([
      { line: 2, cells: { a: ';', b: '1;2', ';': '3' } },
    ])
  })

  test('may have several columns without a name', async () => {
    expect(await recordsOf('a,b,,\n1,2,,\n')).toEqual([{ line: 2, cells: { a: '1', b: '2', '': '' } }])
  })

  test('of a missing file are reported as missing', async () => {
    await expect(readRawRecords(join(folder, 'none.csv'), () => {})).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(/^cannot read .*none\.csv: there is no such file$/),
    })
  })

  test('are not read any further once the callback throws', async () => {
    const refusal = new ExportError('USAGE', 'no')
    let read = 0
    const reading = readRawRecords(fileOf('a\n'.repeat(500)), () => {
      read += 1
      if (read === 3) throw refusal
    })
    await expect(reading).rejects.toBe(refusal)
    expect(read).toBe(3)
  })
})

test('refuses lines beyond the maximum of a file that is kept in memory', async () => {
  const lines: number[] = []
  const read = (text: string) =>
    readRecords(fileOf(`a\n${text}`), ['a'], ({ line }) => lines.push(line), { isKept: true })
  await read(`${'\n'.repeat(249_998)}1\n`)
  await expect(read(`1\n${'\n'.repeat(249_998)}1\n`)).rejects.toThrow(
    'given.csv:250001: found more lines, expected at most 250000: leave out what the export does not contain',
  )
  expect(lines).toEqual([250_000, 2])
})
