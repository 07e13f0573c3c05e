import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Row } from '../../src/table/index.ts'
import { openCsv } from '../../src/write/csv.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { MAX_U256, SAMPLE, sample } from './tables.ts'

const HEADER = 'name,small,wide,yes,at,huge,signed,exact\n'

type Written = { gzip?: boolean; escapeFormulas?: boolean; path?: string }

async function write(rows: readonly Row[], options: Written = {}): Promise<Buffer> {
  const path = options.path ?? join(tempFolder(), 'part')
  const file = openCsv({ table: SAMPLE, gzip: false, escapeFormulas: true, ...options, path })
  if (rows.length > 0) await file.write(rows)
  const { bytes, sha256 } = await file.finish()
  const content = readFileSync(path)
  expect(content).toHaveLength(bytes)
  expect(createHash('sha256').update(content).digest('hex')).toBe(sha256)
  return content
}

const textLine = async (name: string, options: Written = {}) => {
  const content = (await write([sample({ name })], options)).toString('utf8')
  expect(content.startsWith(HEADER)).toBe(true)
  expect(content.endsWith(',,,,,,,\n')).toBe(true)
  return content.slice(HEADER.length, -8)
}

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
  { text: '\ufeffmark', cell: '\ufeffmark' },
  { text: '=1+1', cell: "'=1+1" },
  { text: '+1', cell: "'+1" },
  { text: '-1', cell: "'-1" },
  { text: '@SUM(A1)', cell: "'@SUM(A1)" },
  { text: '\tx', cell: "'\tx" },
  { text: '\rx', cell: '"\'\rx"' },
  { text: '=a,"b"', cell: '"\'=a,""b"""' },
  { text: 'a=b', cell: 'a=b' },
  { text: "'=1", cell: "'=1" },
  { text: '\n=1', cell: '"\n=1"' },
])('writes the text $text as the cell $cell', async ({ text, cell }) => {
  expect(await textLine(text)).toBe(cell)
})

test.for(['=1+1', '+1', '-1', '@x', '\tx'])(
  'leaves %j alone where formulas are not escaped',
  async (text) => {
    expect(await textLine(text, { escapeFormulas: false })).toBe(text)
  },
)

test('every type is written in its own form and null as nothing', async () => {
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
  expect((await write(rows)).toString()).toBe(
    [
      HEADER,
      `x,-5,-9223372036854775808,false,2023-11-14T22:46:40.000Z,${MAX_U256},-${MAX_U256},-0.5\n`,
      ',0,9007199254740991,true,1970-01-01T00:00:00.000Z,,,\n',
      ',,12,,9999-12-31T23:59:59.999Z,,,\n',
      ',,,,,,,\n',
    ].join(''),
  )
})

test('a table without rows is its header alone', async () => {
  expect((await write([])).toString()).toBe(HEADER)
})

test('any text reads back as it was but for escaped formulas', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 1, maxLength: 5 }),
      async (texts) => {
        const content = await write(
          texts.map((name) => sample({ name, small: -1 })),
          { escapeFormulas: true },
        )
        const [, ...read] = parse(content, { record_delimiter: '\n' }) as string[][]
        expect(read.map(([name, small]) => [name, small])).toEqual(
          texts.map((text) => [/^[=+\-@\t\r]/.test(text) ? `'${text}` : text, '-1']),
        )
      },
    ),
    { numRuns: 60 },
  )
})

const many = Array.from({ length: 5_000 }, (_, at) => sample({ name: `row ${at}`, small: at }))

test('gzip packs the same bytes every time and unpacks to the plain file', async () => {
  const [first, second] = [await write(many, { gzip: true }), await write(many, { gzip: true })]
  expect(first.equals(second)).toBe(true)
  expect(gunzipSync(first).equals(await write(many))).toBe(true)
})

test('rows written in pieces give the same bytes as at once', async () => {
  const path = join(tempFolder(), 'part')
  const file = openCsv({ path, table: SAMPLE, gzip: false, escapeFormulas: true })
  for (let at = 0; at < many.length; at += 700) await file.write(many.slice(at, at + 700))
  await file.finish()
  expect(readFileSync(path).equals(await write(many))).toBe(true)
})

test('a file in a missing folder fails and does not hang', async () => {
  const path = join(tempFolder(), 'missing', 'part')
  await expect(write(many, { path })).rejects.toMatchObject({ code: 'ENOENT' })
})

test('an abandoned file can be removed and never throws', async () => {
  const path = join(tempFolder(), 'part')
  const file = openCsv({ path, table: SAMPLE, gzip: true, escapeFormulas: true })
  await file.write(many)
  await file.abandon()
  expect(existsSync(path) ? statSync(path).isFile() : true).toBe(true)
})
