import { expect, test } from 'vitest'
import { defineJob } from '../../../src/index.ts'
import { toChecksumAddress } from '../../../src/job/addresses/address.ts'
import { expectRefusal, jobOf, refusalOf } from '../helpers.ts'

/** The examples of EIP-55: upper case, lower case and mixed case. */
const EXAMPLES = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
]
const RIGHT = EXAMPLES[4] as string
/** One digit is different, the case of the letters is unchanged. */
const TYPO = RIGHT.replace('5aAeb', '5aAfb')
/** One letter has the wrong case. */
const MISCASED = RIGHT.replace('5aA', '5aa')

const list = (...items: string[]) => `chain: 1\naddresses:\n${items.map((item) => `  - ${item}\n`).join('')}`

test.for(EXAMPLES)('computes the EIP-55 checksum of %s', (address) => {
  expect(toChecksumAddress(address.toLowerCase())).toBe(address)
})

test('accepts an address in lower case, in upper case and with its checksum', async () => {
  const small = RIGHT.toLowerCase()
  for (const address of [small, `0x${small.slice(2).toUpperCase()}`, RIGHT]) {
    const { wallets } = await jobOf(list(`'${address}'`))
    expect(wallets).toEqual([{ address: small, label: null }])
  }
})

test.for([
  { where: 'in quotes', item: `'${MISCASED}'` },
  { where: 'without quotes', item: MISCASED },
])('rejects a wrong checksum with the line and the correct spelling $where', async ({ item }) => {
  await expectRefusal(['', list(`'${EXAMPLES[5]}'`, item), 'job.yaml:4:5: addresses[1]: found '])
  const { message } = await refusalOf(list(`'${EXAMPLES[5]}'`, item))
  expect(message).toContain(MISCASED)
  expect(message).toContain(`expected ${RIGHT}, by its checksum (EIP-55)`)
  expect(message).toContain('check every digit, or write it in lower case')
})

test('rejects a wrong checksum of an address with a label', async () => {
  const { message } = await refusalOf(list(`{ address: '${TYPO}', label: mine }`))
  expect(message).toMatch(/^job\.yaml:3:16: addresses\[0\]\.address: found "0x5aAfb/)
})

test('rejects a wrong checksum in an addresses file with the line number', async () => {
  const { message } = await refusalOf('chain: 1\naddressesFile: w.csv\n', {
    beside: { 'w.csv': `address,label\n${RIGHT},a\n${TYPO},b\n` },
  })
  expect(message).toMatch(/^w\.csv:3:1: address: found "0x5aAfb/)
  expect(message).toContain(`expected ${toChecksumAddress(TYPO.toLowerCase())}, by its checksum`)
})

test('rejects a wrong checksum in a job that is defined in code', async () => {
  await expect(defineJob({ chain: 1, addresses: [MISCASED] })).rejects.toMatchObject({
    code: 'JOB_INVALID',
    message: expect.stringMatching(/^job:4:5: addresses\[0\]: found "0x5aaeb/),
  })
})

test('loads a hundred thousand addresses with checksums', { tags: ['long'] }, async () => {
  const addresses = Array.from({ length: 100_000 }, (_, index) =>
    toChecksumAddress(`0x${(index * 7919).toString(16).padStart(40, 'a')}`),
  )
  const { wallets } = await jobOf('chain: 1\naddressesFile: w.csv\n', {
    beside: { 'w.csv': `${addresses.join('\n')}\n` },
  })
  expect(wallets).toHaveLength(100_000)
  expect(wallets[0]?.address).toBe(addresses.map((each) => each.toLowerCase()).sort()[0])
})
