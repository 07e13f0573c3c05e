import { expect, test } from 'vitest'
import { csvRows } from '../../../src/core/platform/csv-rows.ts'
import { type Sheet, xlsxBytes } from '../../../src/core/platform/xlsx.ts'
import { isMissing } from '../../helpers/programs.ts'
import { csvByLibreOffice, unzipText, zipTimes } from '../../helpers/xlsx.ts'

const HASH = `0x12e10${'0'.repeat(59)}`
const NUMBERS = [
  '0',
  '-1',
  '1.5',
  '123456789012345',
  '-0.000000000000001',
  '0.123456789012345',
  '12345678.9012345',
  // More than 15 significant digits or decimals: text.
  '1234567890123456',
  '0.1234567890123456',
  '0.0000000000000001',
  String(2n ** 256n - 1n),
  '1e5',
]
const TEXTS = [
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  HASH,
  '0123',
  '1e10',
  'constructor',
  '__proto__',
  ' a "b", \n<c> & d ',
]

const sheet: Sheet = {
  name: 'Statement',
  columns: [
    { name: 'time', kind: 'time' },
    { name: 'amount', kind: 'number' },
    { name: 'text', kind: 'text' },
  ],
  rows: NUMBERS.map((number, at) => ['2023-12-31T23:59:59.999Z', number, TEXTS[at] ?? null]),
}
const cell = (xml: string, name: string) =>
  new RegExp(`<c r="${name}"(?: s="\\d+")?(?: t="(\\w)")?><v>([^<]*)</v>`).exec(xml)?.slice(1)

test('writes exact numbers as numbers, and others as text', async () => {
  const xlsx = await xlsxBytes([sheet])
  const xml = unzipText(xlsx, 'xl/worksheets/sheet1.xml')
  const numbers = NUMBERS.map((_, at) => cell(xml, `B${at + 2}`))
  expect(numbers.slice(0, 7)).toEqual(NUMBERS.slice(0, 7).map((text) => [undefined, String(Number(text))]))
  expect(numbers.slice(7).map((found) => found?.[0])).toEqual(NUMBERS.slice(7).map(() => 's'))
})

test('writes all other text as text, including formulas', async () => {
  const xlsx = await xlsxBytes([sheet])
  const xml = unzipText(xlsx, 'xl/worksheets/sheet1.xml')
  expect(TEXTS.map((_, at) => cell(xml, `C${at + 2}`))).toEqual(
    TEXTS.map(() => ['s', expect.stringMatching(/^\d+$/)]),
  )
  expect(xml).not.toContain('<f>')
  const strings = unzipText(xlsx, 'xl/sharedStrings.xml')
  expect(strings).toContain('<t>=1+1</t>')
  expect(strings).toContain('<t xml:space="preserve">constructor </t>')
})

test.for([
  ['_x0041_', '_x005F_x0041_'],
  ['_x0041_x0042_', '_x005F_x0041_x005F_x0042_'],
  ['a_x00e9_ _x41_', 'a_x005F_x00e9_ _x41_'],
  ['\0a\u001bb\r\n\tc\uffff', '_x0000_a_x001B_b_x000D_\n\tc_xFFFF_'],
] as const)('escapes what a workbook would read as another character: %j', async ([text, expected]) => {
  const xlsx = await xlsxBytes([{ ...sheet, rows: [[null, null, text]] }])
  const strings = unzipText(xlsx, 'xl/sharedStrings.xml')
  expect(/<t[^>]*>([^<]*)<\/t><\/si><\/sst>$/.exec(strings)?.[1]).toBe(expected)
})

test('writes times as dates, with a frozen header', async () => {
  const xml = unzipText(await xlsxBytes([sheet]), 'xl/worksheets/sheet1.xml')
  expect(cell(xml, 'A2')).toEqual([
    undefined,
    String(Date.UTC(2023, 11, 31, 23, 59, 59, 999) / 86_400_000 + 25_569),
  ])
  expect(xml).toMatch(/<pane [^>]*ySplit="1"[^>]*state="frozen"/)
})

test('prints landscape pages of one width, with the header on each of them and a filter', async () => {
  const totals = [['Total', '3', null]]
  const workbook = await xlsxBytes([{ ...sheet, totals, notes: ['Signature:'], maxPages: 2 }])
  const xml = unzipText(workbook, 'xl/worksheets/sheet1.xml')
  expect(xml).toContain(`<autoFilter ref="A1:C${NUMBERS.length + 1}"/>`)
  expect(xml).toContain('<pageSetUpPr fitToPage="1"/>')
  expect(xml).toMatch(/<pageSetup [^>]*orientation="landscape" fitToWidth="1" fitToHeight="2"/)
  const names = unzipText(workbook, 'xl/workbook.xml')
  expect(names).toContain(`localSheetId="0">'Statement'!$1:$1<`)
  expect(names.match(/<definedNames/g)).toHaveLength(1)
})

test('has the same times in every archive, so that the same sheets give the same bytes', async () => {
  const [first, second] = [await xlsxBytes([sheet]), await xlsxBytes([sheet])]
  expect(first.equals(second)).toBe(true)
  // 1980-01-01 00:00, the first time of the format.
  expect(new Set(zipTimes(first))).toEqual(new Set([0x00210000]))
})

test('cuts text to the maximum of a cell, and refuses too many rows', async () => {
  const long = { ...sheet, rows: [[null, null, 'x'.repeat(40_000)]] }
  const strings = unzipText(await xlsxBytes([long]), 'xl/sharedStrings.xml')
  expect(/<t>x+…<\/t>/.exec(strings)?.[0]).toHaveLength(32_767 + '<t></t>'.length)
  const rows = Array.from({ length: 150_001 }, () => [])
  await expect(xlsxBytes([{ ...sheet, rows }])).rejects.toMatchObject({ code: 'USAGE' })
})

test.skipIf(isMissing('LibreOffice Calc'))('opens in LibreOffice with unchanged digits', async () => {
  const columns = sheet.columns.map(({ name }) => name)
  const csv = csvByLibreOffice(await xlsxBytes([sheet]))
  const shown = sheet.rows.map(([, number, text]) => [
    '2023-12-31 23:59:59.999',
    number ?? null,
    text === 'constructor' || text === '__proto__' ? `${text} ` : (text ?? null),
  ])
  expect(csv).toBe(csvRows([columns, ...shown]).replaceAll(`'`, ''))
})
