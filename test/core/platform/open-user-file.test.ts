import { execFileSync } from 'node:child_process'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { checkFile } from '../../../src/accounting/check/check-file.ts'
import { openUserFile } from '../../../src/core/platform/open-user-file.ts'
import { readRawRecords } from '../../../src/read/csv-records.ts'
import { makeNamedPipe } from '../../helpers/named-pipe.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'

const folder = suiteFolder()
const FIX = 'Name a CSV file.'
const BIN = fileURLToPath(new URL('../../../dist/bin.js', import.meta.url))
const fifo = join(folder, 'fifo')
makeNamedPipe(fifo)

test('opens a regular file', async () => {
  const file = join(folder, 'file.csv')
  writeFileSync(file, 'a,b\n')
  expect(await text(await openUserFile(file, FIX))).toBe('a,b\n')
})

test.for([
  {
    what: 'Latin-1',
    bytes: Buffer.from('name,a\nx,1\nGrün,2\ny,3\n', 'latin1'),
    line: 3,
    found: 'bytes that are not UTF-8',
  },
  {
    what: 'a character that is cut off',
    bytes: Buffer.from('name,a\nGrü').subarray(0, -1),
    line: 2,
    found: 'bytes that are not UTF-8',
  },
  {
    what: 'UTF-16 without a mark',
    bytes: Buffer.from('name', 'utf16le'),
    line: 1,
    found: 'UTF-16 without a byte order mark',
  },
  { what: 'broken UTF-16', bytes: Buffer.from('\ufeffn\udc00', 'utf16le'), line: 1, found: 'broken UTF-16' },
])('refuses $what with the line', async ({ bytes, line, found }) => {
  const file = join(folder, 'encoded.csv')
  writeFileSync(file, bytes)
  const refusal = { code: 'USAGE', message: `${file}:${line}: found ${found}, expected UTF-8 text` }
  await expect(openUserFile(file, FIX).then(text)).rejects.toMatchObject(refusal)
  await expect(readRawRecords(file, () => {})).rejects.toMatchObject(refusal)
  await expect(checkFile(file, 'hledger', () => {})).rejects.toMatchObject(refusal)
})

test.for(['utf8', 'utf16le'] as const)('reads %s, wherever its chunks end', async (encoding) => {
  const lines = 'Grün,€,𝒳,1\n'.repeat(60_000)
  const file = join(folder, 'encoded.csv')
  writeFileSync(file, Buffer.from(`\ufeff${lines}`, encoding))
  expect((await text(await openUserFile(file, FIX))).replace('\ufeff', '')).toBe(lines)
})

test.for([
  [fifo, 'it is a pipe or a device'],
  ['/dev/zero', 'it is a pipe or a device'],
  [folder, 'it is a folder'],
  [join(folder, 'none'), 'there is no such file'],
] as const)('refuses %s', async ([file, problem]) => {
  const refusal = { code: 'USAGE', message: `cannot read ${file}: ${problem}` }
  await expect(openUserFile(file, FIX)).rejects.toMatchObject({ ...refusal, fix: FIX })
  await expect(readRawRecords(file, () => {})).rejects.toMatchObject(refusal)
  if (file !== folder) await expect(checkFile(file, 'hledger', () => {})).rejects.toMatchObject(refusal)
})

test.for(['<(printf "$TEXT")', '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'])(
  'reads the pipe %s to its end',
  (path) => {
    const check = `"$NODE" "$BIN" convert --check ${path} --to hledger`
    const found = execFileSync('bash', ['--norc', '-c', `printf "$TEXT" | ${check} 2>&1 || [ $? = 10 ]`], {
      env: { NODE: process.execPath, BIN, TEXT: '2024-01-01 x\n  assets:a  1 AVAX\n' },
      encoding: 'utf8',
    })
    expect(found).toContain(':2: account assets:a is used before it is declared')
  },
)

test('refuses a stream that is longer than 64 MiB', { tags: ['long'] }, async () => {
  const endless = openSync('/dev/zero', 'r')
  const file = `/dev/fd/${endless}`
  const refusal = { code: 'USAGE', message: expect.stringContaining('longer than 67108864 bytes') }
  try {
    await expect(openUserFile(file, FIX).then(buffer)).rejects.toMatchObject(refusal)
    await expect(checkFile(file, 'hledger', () => {})).rejects.toMatchObject(refusal)
  } finally {
    closeSync(endless)
  }
})
