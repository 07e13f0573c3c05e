import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tableByName } from '../../src/core/table/index.ts'
import { createCsvFormatter, csvHeader } from '../../src/formats/csv-lines.ts'
import { linesOf as lines, MAX_U256, SAMPLE, sample, textOf } from '../files/tables.ts'

const textLine = (name: string, options = { escapeFormulas: true }) => {
  const { text } = lines([sample({ name })], options)
  expect(text.endsWith(',,,,,,,\n')).toBe(true)
  return text.slice(0, -8)
}

const USUAL = { escapeFormulas: true, quoteEmpty: false }

test('the header lists the columns in order', () => {
  expect(csvHeader(SAMPLE.columns)).toBe('name,small,wide,yes,at,huge,signed,exact')
})

test.for([
  { text: 'plain', cell: 'plain' },
  { text: 'a,b', cell: '"a,b"' },
  { text: 'say "hi"', cell: '"say ""hi"""' },
  { text: 'two\nlines', cell: '"two\nlines"' },
  { text: 'two\r\nlines', cell: '"two\r\nlines"' },
  { text: 'bare\rreturn', cell: '"bare\rreturn"' },
  { text: ' spaced ', cell: ' spaced ' },
  { text: 'nul\u0000inside', cell: 'nul\u0000inside' },
  { text: '😀é', cell: '😀é' },
  { text: '\ufeffmark', cell: '"\ufeffmark"' },
  { text: 'mark\ufeff', cell: 'mark\ufeff' },
  { text: '=1+1', cell: "'=1+1" },
  { text: '+1', cell: "'+1" },
  { text: '-1', cell: "'-1" },
  { text: '@SUM(A1)', cell: "'@SUM(A1)" },
  { text: '\tx', cell: "'\tx" },
  { text: '\rx', cell: '"\'\rx"' },
  { text: '=a,"b"', cell: '"\'=a,""b"""' },
  { text: 'a=b', cell: 'a=b' },
  { text: "'=1", cell: "''=1" },
  { text: "''\tx", cell: "'''\tx" },
  { text: "'plain", cell: "'plain" },
  { text: "''", cell: "''" },
  { text: '\n=1', cell: '"\n=1"' },
])('writes the text $text as the cell $cell', ({ text, cell }) => {
  expect(textLine(text)).toBe(cell)
})

test.for(['=1+1', '+1', '-1', '@x', '\tx'])('writes %j unchanged if formulas are not escaped', (text) => {
  expect(textLine(text, { escapeFormulas: false })).toBe(text)
})

test('every type has its own form, and null is an empty cell', () => {
  const rows = [
    sample({
      name: 'x',
      small: -5,
      wide: '-9223372036854775808',
      yes: false,
      at: 1_700_002_000_000,
      huge: MAX_U256,
      signed: `-${MAX_U256}`,
      exact: '-0.5',
    }),
    sample({ small: 0, wide: 9_007_199_254_740_991, yes: true, at: 0 }),
    sample({ at: 253_402_300_799_999, wide: 12n }),
    sample({}),
  ]
  expect(lines(rows).text).toBe(
    [
      `x,-5,-9223372036854775808,false,2023-11-14T22:46:40.000Z,${MAX_U256},-${MAX_U256},-0.5\n`,
      ',0,9007199254740991,true,1970-01-01T00:00:00.000Z,,,\n',
      ',,12,,9999-12-31T23:59:59.999Z,,,\n',
      ',,,,,,,\n',
    ].join(''),
  )
})

test('empty text is distinguished from null on request', () => {
  const rows = [sample({ name: '', small: 1 }), sample({ small: 1 })]
  expect(textOf(rows)).toBe(',1,,,,,,\n,1,,,,,,\n')
  expect(lines(rows, { quoteEmpty: true }).text).toBe('"",1,,,,,,\n,1,,,,,,\n')
})

test('lines are counted, and the longest is measured', () => {
  const made = lines([sample({}), sample({ name: 'é😀' }), sample({ name: 'x' })])
  expect(made).toEqual({ text: `${','.repeat(7)}\né😀,,,,,,,\nx,,,,,,,\n`, rows: 3, maxLineBytes: 14 })
  expect(lines([])).toEqual({ text: '', rows: 0, maxLineBytes: 0 })
})

test('text longer than the initial buffer is written completely', () => {
  const names = ['x'.repeat(70_000), 'é'.repeat(300_000), `"${'y'.repeat(900_000)}`]
  expect(textOf(names.map((name) => sample({ name, small: -1 })))).toBe(stringified(names))
})

const prefix = fc.record({
  chain_id: fc.constantFrom('1', '4,3'),
  block_number: fc.nat(2),
  block_hash: fc.constant('0xb'),
  block_timestamp: fc.nat(2),
  transaction_hash: fc.constant('0xt'),
  transaction_index: fc.nat(1),
})

test('rows of several tables that share a prefix are written like those of a single table', () => {
  const tables = [tableByName('transactions'), tableByName('ledger')]
  const rows = fc.array(fc.tuple(prefix, fc.nat(1)), { maxLength: 20 })
  fc.assert(
    fc.property(rows, (drawn) => {
      const csv = createCsvFormatter(USUAL)
      const together = tables.map(({ columns }) => csv.createLineBuffer(columns))
      const alone = tables.map(({ columns }) => ({ columns, text: '' }))
      for (const [prefix, at] of drawn) {
        const cells = { value: 'end' }
        together[at]?.add(cells, csv.formatPrefix(prefix))
        const one = alone[at] as (typeof alone)[0]
        const own = createCsvFormatter(USUAL)
        const lines = own.createLineBuffer(one.columns)
        lines.add(cells, own.formatPrefix(prefix))
        one.text += Buffer.from(lines.drain().bytes).toString()
      }
      const texts = together.map((lines) => Buffer.from(lines.drain().bytes).toString())
      expect(texts).toEqual(alone.map(({ text }) => text))
    }),
    { numRuns: 200 },
  )
})

test('cells are in column order, after the prefix', () => {
  const { columns } = tableByName('wallet_transactions')
  const names = columns.map(({ name }) => name)
  const cells = Object.fromEntries(names.map((name, at) => [name, at])) as Record<string, never>
  const csv = createCsvFormatter(USUAL)
  const lines = csv.createLineBuffer(columns)
  const text = (cell: unknown) =>
    ({ chain_id: 'c', block_hash: 'b', transaction_hash: 't' })[String(cell)] ?? cell
  const prefix = Object.fromEntries(
    names.slice(0, 6).map((name, at) => [name, text(name) === name ? at : text(name)]),
  )
  lines.add({ ...cells, wallet_address: 'w', wallet_label: 'l' }, csv.formatPrefix(prefix as never))
  const line = Buffer.from(lines.drain().bytes).toString()
  expect(line).toBe('c,1,b,1970-01-01T00:00:00.003Z,t,5,w,l,8,9,10,11,12,13\n')
})

/** Any text, often with what is special in CSV. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...'",\r\n=+-@\t \'a;\0', '\ufeff', '\u2028', '😀') }),
)

test('cells equal those of csv-stringify for any text', () => {
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 12 }), (texts) => {
      const rows = texts.map((name) => sample({ name, small: -1 }))
      expect(lines(rows, { escapeFormulas: false }).text).toBe(stringified(texts))
    }),
    { numRuns: 500 },
  )
})

test('escaped formulas equal those of csv-stringify for any text', () => {
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 12 }), (texts) => {
      const escaped = texts.map((text) => (/^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text))
      expect(lines(texts.map((name) => sample({ name, small: -1 }))).text).toBe(stringified(escaped))
    }),
    { numRuns: 500 },
  )
})

/** Formats rows of the sample table with csv-stringify only. It also quotes carriage returns and byte order marks. */
function stringified(texts: readonly string[]): string {
  const rows = texts.map((text) => [text, -1, null, null, null, null, null, null])
  return stringify(rows, { record_delimiter: '\n', quoted_match: /\r|^\ufeff/ })
}

test('a writer writes special cells correctly after many of them', () => {
  const texts = Array.from({ length: 5_000 }, (_, at) => `=f(${at % 2_500},"x")`)
  const rows = texts.map((name) => sample({ name, small: -1 }))
  const expected = stringified(texts.map((text) => `'${text}`))
  expect(textOf([...rows, ...rows])).toBe(expected + expected)
})

test('any text reads back unchanged, except for escaped formulas', () => {
  const texts = fc.array(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(texts, (names) => {
      const rows = names.map((name) => sample({ name, small: -1 }))
      const read = parse(lines(rows).text, { record_delimiter: '\n' }) as string[][]
      expect(read.map(([name, small]) => [name, small])).toEqual(
        names.map((text) => [/^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text, '-1']),
      )
    }),
    { numRuns: 200 },
  )
})

test('different texts never become the same cell, even with escaped formulas', () => {
  const texts = fc.string({ unit: fc.constantFrom("'", '=', '+', 'x'), minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(texts, texts, (one, other) => {
      expect(textLine(one) === textLine(other)).toBe(one === other)
    }),
    { numRuns: 500 },
  )
})
