import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseCsv } from '../../src/read/csv-records.ts'
import { runCommand } from '../helpers/command.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { isMissing } from '../helpers/programs.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { csvByLibreOffice, unzipText } from '../helpers/xlsx.ts'

const folder = suiteFolder()
const output = join(folder, 'out')
const at = (name: string) => join(folder, name)

beforeAll(() => exportDemo(output, { endBlock: 40 }))

const state = (...words: string[]) => runCommand(['statement', output, ...words])

const COLUMNS =
  'wallet_address,wallet_label,asset_type,asset_address,asset_symbol,token_id,opening,received,sent,own_in,own_out,income,swapped_in,swapped_out,wrapped_in,wrapped_out,fees,closing'

/**
 * CSV text as a spreadsheet shows it: without the quotes and the `'` that only CSV needs, without characters that XML
 * cannot contain, and without the space that keeps some symbols from colliding with names in the library.
 */
const shownBySpreadsheet = (csv: string) =>
  csv
    .replaceAll(`'`, '')
    .replaceAll('""', '')
    .replaceAll('\ufffd', '')
    .replaceAll('constructor ', 'constructor')

describe('walletlake statement', () => {
  test('writes the columns of the contract as CSV and JSON, with exact amounts', async () => {
    const { exit, stdout, stderr } = await state('--year', '2023', '--format', 'csv')
    expect(exit).toBe(0)
    expect(stdout.split('\n')[0]).toBe(COLUMNS)
    expect(stderr).toMatch(
      /^from 2023-01-01T00:00:00\.000Z to 2023-12-31T23:59:59\.999Z: rows count up to block \d+ \(.*\); the export ends with block 39$/m,
    )
    expect(stderr).toMatch(/AVAX was below zero \(-\d+\.\d+ AVAX\) after transaction 0x/)
    const json = await state('--year', '2023', '--format', 'json')
    const rows = JSON.parse(json.stdout) as Record<string, unknown>[]
    expect(Object.keys(rows[0] ?? {}).join(',')).toBe(COLUMNS)
    expect(rows).toHaveLength(parseCsv(stdout).length - 1)
    expect(rows[0]?.closing).toMatch(/^-?\d+\.\d+$/)
  })

  test('prefixes text that a spreadsheet would evaluate', async () => {
    const { stdout } = await state('--year', '2023', '--format', 'csv')
    expect(stdout).toContain(`,'=1+1`)
    expect(stdout).not.toMatch(/,[=@]/)
  })

  test('lists the totals of each entry type', async () => {
    const { stdout } = await state('--year', '2023', '--entry-types', '--format', 'csv')
    expect(stdout.split('\n')[0]).toBe(
      `${COLUMNS.split(',opening')[0]},entry_type,movements,amount_in,amount_out`,
    )
    expect(stdout).toMatch(/,native,,AVAX,,fee,\d+,0,0\.\d+\n/)
  })

  test.for(['2022', '2024'])('warns that the year %s has no movement', async (year) => {
    const { exit, stderr } = await state('--year', year)
    expect(exit).toBe(0)
    expect(stderr).toMatch(
      new RegExp(
        `no movement from ${year}-01-01 until ${year}-12-31: the export has movements from 2023-\\S+Z to 2023-\\S+Z\n`,
      ),
    )
    expect((await state('--year', '2023')).stderr).not.toContain('no movement')
  })

  test('prints a table with rounded amounts, by default of the only year', async () => {
    const { stdout, stderr } = await state()
    expect(stderr).toContain('from 2023-01-01T00:00:00.000Z to 2023-12-31T23:59:59.999Z')
    expect(stdout.split('\n')[0]).toMatch(
      /^wallet +asset +opening +received +sent +own +swapped +wrapped +fees +closing$/,
    )
    expect(stdout).toMatch(/≈ -?0\.\d+/)
    expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
  })

  test('writes a workbook to a file and to a pipe, with the same bytes', { tags: ['long'] }, async () => {
    const words = ['--year', '2023', '--format', 'xlsx']
    expect(await state('--year', '2023', '--out', at('a.xlsx'))).toMatchObject({ exit: 0, stdout: '' })
    const piped = await runCommand(['statement', output, ...words], {}, { shell: `exec 1>'${at('b.xlsx')}'` })
    expect(piped.exit).toBe(0)
    const workbook = readFileSync(at('a.xlsx'))
    expect(workbook.equals(readFileSync(at('b.xlsx')))).toBe(true)
    const names = unzipText(workbook, 'xl/workbook.xml').matchAll(/<sheet [^>]*name="([^"]+)"/g)
    expect([...names].map(([, name]) => name)).toEqual([
      'Summary',
      'Statement',
      'Entry types',
      'Period',
      'Below zero',
    ])
    const texts = unzipText(workbook, 'xl/sharedStrings.xml')
    for (const text of ['amount_then', 'likely_causes', 'the account had coins at genesis'])
      expect(texts).toContain(text)
  })

  test.skipIf(isMissing('LibreOffice Calc'))(
    'converts to a workbook whose digits LibreOffice shows unchanged',
    async () => {
      const convert = ['convert', output, '--to', 'generic']
      const csv = (await runCommand(convert)).stdout.replace(
        /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z/gm,
        '$1 $2',
      )
      await runCommand([...convert, '--format', 'xlsx', '--out', at('generic.xlsx')])
      const converted = csvByLibreOffice(readFileSync(at('generic.xlsx')))
      expect(shownBySpreadsheet(converted)).toBe(shownBySpreadsheet(csv))
    },
  )

  test('reads a file of names from a pipe, although it needs it several times', async () => {
    const { wallet_address: wallet } = JSON.parse((await state('--format', 'json')).stdout)[0]
    const shell = `exec 9<<'END'\naddress,name\n${wallet},Savings\n0x${'9'.repeat(40)},Nobody\nEND\ntrue`
    const words = ['statement', output, '--names', '/dev/fd/9', '--format', 'csv']
    const { exit, stderr, stdout } = await runCommand(words, {}, { shell })
    expect([exit, stderr]).toEqual([0, expect.stringContaining('Nobody 0x9999')])
    expect(stdout).toContain(`${wallet},`)
  })

  test('lists missing prices, with the last day of the period, and reads them', async () => {
    const period = ['--year', '2023']
    const { stdout } = await state(...period, '--prices-needed')
    const [head, ...lines] = stdout.trimEnd().split('\n')
    expect(head).toBe('date,chain,asset,currency,price,symbol')
    expect(lines.some((line) => line.startsWith('2023-12-31,43114,native,'))).toBe(true)
    const filled = lines.map((line) => line.replace(/^([^,]+,[^,]+,[^,]+),,,/, '$1,USD,2,'))
    writeFileSync(at('prices.csv'), `${[head, ...filled].join('\n')}\n`)
    const priced = await state(...period, '--prices', at('prices.csv'), '--format', 'json')
    const rows = JSON.parse(priced.stdout) as Record<string, string | null>[]
    const coin = rows.find(({ asset_type, fees }) => asset_type === 'native' && fees !== '0')
    expect(coin?.currency).toBe('USD')
    const table = await state(...period, '--prices', at('prices.csv'))
    expect(table.stdout).toMatch(/\ntotal +in USD +[^\n]+\n +lines priced +\d+ of \d+ /)
    expect(Number(coin?.closing_value)).toBeCloseTo(2 * Number(coin?.closing), 6)
    expect(priced.stderr).not.toContain('lack a price')
    const again = await state(...period, '--prices', at('prices.csv'), '--prices-needed')
    expect(again.stdout.trimEnd()).toBe(head)
  })

  test.for([
    { words: ['--from', '2024-01-01'], says: '--until or --year is missing' },
    { words: ['--year', '2024', '--from', '2024-01-01'], says: 'cannot be used with' },
    { words: ['--from', '2024-02-01', '--until', '2024-01-01'], says: 'is not before' },
    { words: ['--year', '2024', '--out', join(output, 'manifest.json')], says: 'is part of the export' },
    { words: ['--year', '2024', '--wallet', 'nobody'], says: 'has no wallet nobody' },
  ])('$words exits with 2 and a fix', async ({ words, says }) => {
    const { exit, stdout, stderr } = await state(...words)
    expect([exit, stdout]).toEqual([2, ''])
    expect(stderr).toContain(says)
    expect(stderr).toContain('\nfix: ')
  })
})

test('convert refuses a workbook for a program, and writes others to a file and to a pipe', {
  tags: ['long'],
}, async () => {
  const koinly = await runCommand(['convert', output, '--to', 'koinly', '--format', 'xlsx', '--out', at('k')])
  expect(koinly).toMatchObject({ exit: 2, stderr: expect.stringContaining('koinly is read by a program') })
  const generic = ['convert', output, '--to', 'generic']
  expect((await runCommand([...generic, '--out', at('c.xlsx')])).exit).toBe(0)
  const shell = `exec 1>'${at('d.xlsx')}'`
  expect((await runCommand([...generic, '--format', 'xlsx', '--out', '-'], {}, { shell })).exit).toBe(0)
  const workbook = readFileSync(at('c.xlsx'))
  expect(unzipText(workbook, 'xl/workbook.xml')).toContain('name="generic"')
  expect(workbook.equals(readFileSync(at('d.xlsx')))).toBe(true)
})

test('prices of a year are all that the statement of this year needs', async () => {
  const file = at('year.csv')
  // The export has movements of one year only, so this is the default.
  await runCommand(['prices', output, '--out', file])
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^([^,]+,[^,]+,[^,]+),,,/gm, '$1,USD,2,'))
  const { exit, stderr } = await runCommand([
    'statement',
    output,
    '--year',
    '2023',
    '--prices',
    file,
    '--format',
    'csv',
  ])
  expect(exit).toBe(0)
  expect(stderr).not.toContain('lack a price')
  const needed = await runCommand(['convert', output, '--year', '2023', '--prices', file, '--prices-needed'])
  expect(needed.stdout).toBe('date,chain,asset,currency,price,symbol\n')
})

test.for([
  {
    words: ['statement', '--year', '2023', '--out', 'x.pdf'],
    says: 'x.pdf ends in .pdf',
    fix: 'report',
  },
  {
    words: ['statement', '--year', '2023', '--out', 'X.CSV', '--format', 'xlsx'],
    says: '--format is xlsx',
    fix: 'Omit',
  },
  {
    words: ['statement', '--year', '2023', '--prices-needed', '--out', 'x.xlsx'],
    says: 'no XLSX file',
    fix: '.csv',
  },
  { words: ['prices', '--out', 'x.xlsx'], says: 'no XLSX file', fix: '.csv' },
  { words: ['report', '--out', 'x.pdf'], says: 'no PDF file', fix: '--print-to-pdf' },
  {
    words: ['convert', '--to', 'koinly', '--out', 'x.xlsx'],
    says: 'koinly is read by a program',
    fix: '.xlsx',
  },
  { words: ['convert', '--to', 'hledger', '--out', 'x.csv'], says: 'no CSV file', fix: '.journal' },
  {
    words: ['convert', '--to', 'rotki', '--out', 'x.csv'],
    says: 'rotki writes several files',
    fix: 'folder',
  },
])(
  '$words exits with 2, because the ending of the file names another format',
  async ({ words, says, fix }) => {
    const [command = '', ...others] = words
    const { exit, stderr } = await runCommand([command, output, ...others])
    expect(exit).toBe(2)
    expect(stderr).toMatch(
      new RegExp(`${says.replaceAll('.', '\\.')}[^]*\nfix: .*${fix.replaceAll('.', '\\.')}`),
    )
  },
)
