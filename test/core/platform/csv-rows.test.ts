import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvLine } from '../../../src/core/platform/csv-line.ts'
import { csvRows } from '../../../src/core/platform/csv-rows.ts'

/** A cell with many of the characters that are special in CSV and in spreadsheets. */
const anyCell = fc.option(
  fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...'",\r\n=+-@\t \'a1.\ufeff') }),
  ),
)
const anyRows = fc.array(fc.array(anyCell, { minLength: 2, maxLength: 5 }), { maxLength: 5 })

test('writes null as an empty cell, empty text as quotes, and escapes formulas but no numbers', () => {
  expect(csvRows([['a', null, '', '-1.5', '-1+2', '=x', "'=x", 'a,b', 'a"b', '\ufeffx', 'a\rb']])).toBe(
    `a,,"",-1.5,'-1+2,'=x,''=x,"a,b","a""b","\ufeffx","a\rb"\n`,
  )
})

test('escapes a formula after a line feed', () => {
  expect(csvLine(['\n=x', '\nx'])).toBe(`"'\n=x","\nx"\n`)
})

test('any cells read back unchanged, except for escaped formulas', () => {
  fc.assert(
    fc.property(anyRows, (rows) => {
      const read: string[][] = parse(csvRows(rows), { record_delimiter: '\n', relax_column_count: true })
      const unescaped = read.map((row) =>
        row.map((cell) => cell.replace(/^'('*(?:[=+\-@\t\r]|\n+[=+\-@]))/, '$1')),
      )
      expect(unescaped).toEqual(rows.map((row) => row.map((cell) => cell ?? '')))
    }),
  )
})

test('lines that are written without the library are the same', () => {
  fc.assert(
    fc.property(anyRows, (rows) => {
      expect(rows.map(csvLine).join('')).toBe(csvRows(rows))
    }),
  )
})
