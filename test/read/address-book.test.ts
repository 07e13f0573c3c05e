import { expect, test } from 'vitest'
import type { Manifest } from '../../src/core/model/manifest.ts'
import { applyNames } from '../../src/read/address-book.ts'
import { tempFile } from '../helpers/temp-folder.ts'

const [SHOP, TILL, SAVINGS] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`) as [
  string,
  string,
  string,
]

const manifest = {
  job: { chain: '43114' },
  coverage: [
    { address: TILL, label: null },
    { address: SAVINGS, label: 'Savings' },
  ],
} as unknown as Manifest

function fileOf(...lines: string[]): string {
  return tempFile('names.csv', [...lines, ''].join('\n'))
}

const namesOf = async (...lines: string[]) =>
  Object.fromEntries((await applyNames(fileOf(...lines), manifest)).names)

test('names addresses in any letter case, and keeps the labels of the job', async () => {
  const file = fileOf(
    'name,address',
    `The shop,0x${'A'.repeat(40)}`,
    `Till,${TILL}`,
    `Else,${SAVINGS}`,
    `,${SHOP}`,
  )
  const named = await applyNames(file, manifest)
  expect(Object.fromEntries(named.names)).toEqual({
    [SHOP]: 'The shop',
    [TILL]: 'Till',
    [SAVINGS]: 'Savings',
  })
  expect(named.manifest.coverage.map(({ label }) => label)).toEqual(['Till', 'Savings'])
})

test('uses the labels of the job without a file', async () => {
  const { names, manifest: unchanged } = await applyNames(undefined, manifest)
  expect([Object.fromEntries(names), unchanged]).toEqual([{ [SAVINGS]: 'Savings' }, manifest])
})

test('prefers the name on the chain of the export to the name on all chains, and ignores other chains', async () => {
  const lines = [`${SHOP},here,avalanche`, `${SHOP},everywhere,`, `${SHOP},there,1`, `${TILL},there,1`]
  expect((await namesOf('address,name,chain', ...lines))[SHOP]).toBe('here')
  expect((await namesOf('address,name,chain', ...lines.toReversed()))[SHOP]).toBe('here')
  expect(await namesOf('address,name,chain', ...lines)).not.toHaveProperty(TILL)
})

test.for([
  { lines: ['address,name', '0x12,Shop'], says: ':2: found address 0x12, expected 0x and 40 hex digits' },
  { lines: ['address,name', ',Shop'], says: ':2: found address empty, expected' },
  {
    lines: ['address,name,chian', `${SHOP},Shop,1`],
    says: ':2: found column chian, expected columns address, name',
  },
  {
    lines: ['address,name,chain', `${SHOP},Shop,moon`],
    says: ':2: found chain moon, expected an id such as 43114',
  },
  {
    lines: ['address,label', `${SHOP},Shop`],
    says: ':1: found no column name, expected a header with address, name',
  },
  {
    lines: ['address,name,chain', `${SHOP},A,1`, `${SHOP},A,43114`, `${SHOP.toUpperCase()},B,43114`],
    says: ':4: found address 0XAAAA',
  },
  {
    lines: ['address,name,chain', `${SHOP},A,43114`, `${SHOP},B,avalanche`],
    says: `:3: found name B for ${SHOP}, which is A in line 2, expected one name`,
  },
])('rejects $lines with the line', async ({ lines, says }) => {
  const file = fileOf(...lines)
  await expect(applyNames(file, manifest)).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(`${file}${says}`),
  })
})
