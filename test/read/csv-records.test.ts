import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ExportError } from '../../src/core/model/errors.ts'
import { readRawRecords, readRecords } from '../../src/read/csv-records.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'

const folder = suiteFolder()

function written(text: string): string {
  const file = join(folder, 'given.csv')
  writeFileSync(file, text)
  return file
}

async function recordsOf(text: string, needed = ['a', 'b']) {
  const records: unknown[] = []
  await readRecords(written(text), needed, (record) => records.push(record))
  return records
}

describe('records of a CSV file that somebody wrote', () => {
  test.for(['a,b\n1,2\n', '\ufeffa,b\r\n1,2\r\n', 'b,a\n2,1', '\n a , b \n\n1,2\n\n', '"a","b"\n"1","2"\n'])(
    'are read by the names of their columns: %j',
    async (text) => {
      expect(await recordsOf(text)).toEqual([{ line: expect.any(Number), cells: { a: '1', b: '2' } }])
    },
  )

  test('keep commas, quotes and ends of lines within quotes, and know the line they end in', async () => {
    expect(await recordsOf('a,b\n"1,\n""x""",2\n3,4\n')).toEqual([
      { line: 3, cells: { a: '1,\n"x"', b: '2' } },
      { line: 4, cells: { a: '3', b: '4' } },
    ])
  })

  test.for([
    { text: 'a\n1\n', says: 'given.csv:1: found no column b, expected a header with a, b' },
    { text: '', says: 'given.csv:1: found nothing, expected a header with a, b' },
    { text: 'a,b\n1,2\n1\n', says: 'given.csv:3: found one cell, expected 2 as in the header' },
    { text: 'a,b\n1,"2\n', says: 'expected CSV: a comma between cells, quotes closed' },
    { text: `a,b\n${'1,2\n'.repeat(9)}1,"2\n${'1,2\n'.repeat(99)}`, says: 'quotes closed' },
    { text: 'a,b\n1,"2"x\n', says: 'given.csv:2: found ' },
  ])('that are none are refused with the line: $says', async ({ text, says }) => {
    await expect(recordsOf(text)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(says),
      fix: 'Correct the line, then run the same command again.',
    })
  })

  test.for(['a;b\n1;2\n', '\ufeff"a";"b"\r\n"1";"2"\r\n', 'a;b\n"1";2\n', 'sep=;\na;b\n1,5;2\n'])(
    'are refused where semicolons divide the cells: %j',
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

  test('have semicolons where they please', async () => {
    expect(await recordsOf('a,b,;\n";",1;2,3\n', ['a', 'b'])).toEqual([
      { line: 2, cells: { a: ';', b: '1;2', ';': '3' } },
    ])
  })

  test('of a file that is not there are said to be so', async () => {
    await expect(readRawRecords(join(folder, 'none.csv'), () => {})).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(/^cannot read .*none\.csv: there is no such file$/),
    })
  })

  test('end where whoever takes them refuses one', async () => {
    const refusal = new ExportError('USAGE', 'no')
    let taken = 0
    const reading = readRawRecords(written('a\n'.repeat(500)), () => {
      taken += 1
      if (taken === 3) throw refusal
    })
    await expect(reading).rejects.toBe(refusal)
    expect(taken).toBe(3)
  })
})
