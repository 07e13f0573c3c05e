import { expect, test } from 'vitest'
import { A, B, expectRefusal, jobOf, refusalOf } from '../helpers.ts'

const JOB = 'chain: 1\naddressesFile: w.csv\n'
const C = `0x${'c'.repeat(40)}`
const wallets = (text: string | Uint8Array) =>
  jobOf(JOB, { beside: { 'w.csv': text } }).then((job) => job.wallets)

test('reads one address per line and ignores comments and blank lines', async () => {
  expect(await wallets(`\ufeff# ours\n\n ${B} \r\n  # more\n0x${'A'.repeat(40)}`)).toEqual([
    { address: A, label: null },
    { address: B, label: null },
  ])
})

test('reads quoted labels below a header in any letter case', async () => {
  expect(await wallets(`Address,LABEL\r\n${C},"a, ""b"""\r\n${B}\r\n"${A}" , =plain \r\n`)).toEqual([
    { address: A, label: '=plain' },
    { address: B, label: null },
    { address: C, label: 'a, "b"' },
  ])
})

test('reads a single column with a header', async () => {
  expect(await wallets(`address\n${A}\n`)).toEqual([{ address: A, label: null }])
})

test.for([
  { name: 'semicolons', separator: ';' },
  { name: 'tabs', separator: '\t' },
])('reads columns separated by $name, as spreadsheets write them', async ({ separator }) => {
  const lines = [['sep=', ''], ['Address', 'Label'], [A, '"a; ""b"""'], [B, 'x, y'], [C]]
  expect(await wallets(lines.map((fields) => `${fields.join(separator)}\r\n`).join(''))).toEqual([
    { address: A, label: 'a; "b"' },
    { address: B, label: 'x, y' },
    { address: C, label: null },
  ])
})

test.for(['utf-16le', 'utf-16be'])('reads %s with a byte order mark', async (encoding) => {
  const lines = Array.from({ length: 5_000 }, (_, n) => `${address(n)}\t"zoé 🦊 ${n}"\r\n`)
  const bytes = Buffer.from(`\ufeffaddress\tlabel\r\n${lines.join('')}`, 'utf16le')
  const loaded = await wallets(encoding === 'utf-16be' ? bytes.swap16() : bytes)
  expect(loaded).toHaveLength(5_000)
  expect(loaded[4_999]).toEqual({ address: address(4_999), label: 'zoé 🦊 4999' })
})

const FEW = 'job.yaml:2:16: addressesFile: found'
const WRONG: readonly (readonly [when: string, file: string | Uint8Array | undefined, says: string])[] = [
  ['it is not there', undefined, `${FEW} no such file: w.csv, expected a file that exists`],
  ['it is empty', '', `${FEW} "w.csv", expected a file with at least one address`],
  ['it has a header only', 'address\n', `${FEW} "w.csv", expected a file with at least one address`],
  [
    'a line is no address',
    `${A}\n\n0x12\n`,
    'w.csv:3:1: address: found "0x12", expected 0x and 40 hexadecimal digits',
  ],
  [
    'an address lacks its 0x',
    `  ${B.slice(2)}`,
    `w.csv:1:3: address: found "${B.slice(2)}", expected 0x and 40 hexadecimal digits (did you mean "${B}"?)`,
  ],
  [
    'an address repeats',
    `address\n${A}\n${B}\n${A}\n`,
    `w.csv:4:1: address: found "${A}" again, expected each address once (first at w.csv:2:1)`,
  ],
  [
    'labels have no header',
    `${A},x\n`,
    `w.csv:1:1: address: found "${A},x", expected one address per line, or address,label as the first line`,
  ],
  [
    'a label has a bare comma',
    `address,label\n${A},x,y\n`,
    `w.csv:2:1: address: found "${A},x,y", expected an address and a label, the label in quotes`,
  ],
  [
    'a quote is not closed',
    `address,label\n${A},"x\n`,
    `w.csv:2:1: address: found "${A},\\"x", expected a quoted field closed in its line`,
  ],
  [
    'the columns are swapped',
    `label,address\nx,${A}\n`,
    'w.csv:1:1: found the header "label,address", expected the header address or address,label',
  ],
  ['a label is too long', `address,label\n${A},${'x'.repeat(257)}`, 'w.csv:2:44: label: found "xxx'],
  [
    'a line is not UTF-8',
    Buffer.from(`${A}\n\xff\n`, 'latin1'),
    'w.csv:2:1: address: found bytes that are not UTF-8, expected a line of UTF-8 text',
  ],
  [
    'it is UTF-16 without its mark',
    Buffer.from(`${A}\n`, 'utf16le'),
    `${FEW} UTF-16 without a byte order mark: w.csv, expected UTF-8 text`,
  ],
  [
    'it is broken UTF-16',
    Buffer.from(`\ufeff${A}\ud800\n`, 'utf16le'),
    `${FEW} broken UTF-16: w.csv, expected UTF-8 text`,
  ],
  [
    'labels behind semicolons have no header',
    `${A};x\n`,
    `w.csv:1:1: address: found "${A};x", expected one address per line, or address,label as the first line`,
  ],
  ['a line is endless', 'a'.repeat(200_000), 'w.csv:1:1: address: found a line of more than 65536 bytes'],
  [
    'it is too large',
    new Uint8Array(64 * 1024 * 1024 + 1),
    `${FEW} a file of 67108865 bytes: w.csv, expected at most 67108864 bytes`,
  ],
]

test.for(WRONG)('rejects an addresses file with the line number when %s', async ([when, file, says]) => {
  await expectRefusal([when, JOB, says, file === undefined ? {} : { beside: { 'w.csv': file } }])
})

test('rejects a folder as an addresses file', async () => {
  const { message } = await refusalOf('chain: 1\naddressesFile: ./\n')
  expect(message).toMatch(/^job\.yaml:2:16: addressesFile: found a directory: .*, expected a file$/)
})

test('shows twenty errors of an addresses file and counts the others', async () => {
  const { message } = await refusalOf(JOB, { beside: { 'w.csv': 'x\n'.repeat(57) } })
  const lines = message.split('\n')
  expect(lines).toHaveLength(21)
  expect(lines[19]).toMatch(/^w\.csv:20:1: address: found "x"/)
  expect(lines[20]).toBe('and 37 more')
})

test('loads a hundred thousand addresses, sorted', { tags: ['long'] }, async () => {
  const addresses = Array.from({ length: 100_000 }, (_, index) => address(99_999 - index))
  const loaded = await wallets(
    `address,label\n${addresses.map((each, n) => `${each},"wallet ${n}"\n`).join('')}`,
  )
  expect(loaded).toHaveLength(100_000)
  expect(loaded[0]).toEqual({ address: address(0), label: 'wallet 99999' })
  expect(loaded.map((wallet) => wallet.address)).toEqual(addresses.toReversed())
})

function address(number: number): string {
  return `0x${number.toString(16).padStart(40, '0')}`
}
