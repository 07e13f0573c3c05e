import { expect, test } from 'vitest'
import { A, B, expectRefusal, LEAST, refusalOf, type Wrong } from './helpers.ts'

const HEX_39 = `0x${'a'.repeat(39)}`
const list = (...items: string[]) => `chain: 1\naddresses:\n${items.map((item) => `  - ${item}\n`).join('')}`

const WRONG: readonly Wrong[] = [
  [
    'the name has capitals',
    `${LEAST}name: Mine`,
    'job.yaml:3:7: name: found "Mine", expected a name of 1 to 64 of a-z, 0-9',
  ],
  [
    'the name climbs out of the output',
    `${LEAST}name: ../x`,
    'job.yaml:3:7: name: found "../x", expected a name',
  ],
  [
    "the file's name is no name",
    LEAST,
    'My Job.yaml:1:1: name: found "My Job", expected a name of 1 to 64 of a-z, 0-9, ".", "_" and "-", the first a letter or digit: set name',
    { name: 'My Job.yaml' },
  ],
  ['the chain is missing', `addresses: ['${A}']`, 'job.yaml:1:1: chain: found nothing, expected a chain id'],
  [
    'the chain has a slash',
    `chain: a/b\naddresses: ['${A}']`,
    'job.yaml:1:8: chain: found "a/b", expected a chain id',
  ],
  [
    'the chain is a way up',
    `chain: ..\naddresses: ['${A}']`,
    'job.yaml:1:8: chain: found "..", expected a chain id',
  ],
  [
    'the chain is negative',
    `chain: -1\naddresses: ['${A}']`,
    'job.yaml:1:8: chain: found -1, expected a chain id',
  ],
  [
    'the chain is hexadecimal',
    `chain: 0xA86A\naddresses: ['${A}']`,
    'job.yaml:1:8: chain: found 0xA86A, expected a chain id',
  ],
  [
    'the chain has a fraction',
    `chain: 1.5\naddresses: ['${A}']`,
    'job.yaml:1:8: chain: found 1.5, expected a chain id',
  ],
  ['the chain is empty', `chain:\naddresses: ['${A}']`, 'chain: found null, expected a chain id'],
  [
    'addresses are missing',
    'chain: 1',
    'job.yaml:1:1: addresses: found nothing, expected addresses or addressesFile',
  ],
  [
    'addresses are an empty list',
    'chain: 1\naddresses: []',
    'job.yaml:2:12: addresses: found an empty list, expected at least one address',
  ],
  [
    'addresses are one text',
    `chain: 1\naddresses: '${A}'`,
    `job.yaml:2:12: addresses: found "${A}", expected a list of addresses`,
  ],
  [
    'an address is a digit short',
    list(`'${HEX_39}'`),
    `job.yaml:3:5: addresses[0]: found "${HEX_39}", expected 0x and 40 hexadecimal digits`,
  ],
  [
    'an unquoted address is short',
    list('0x00aB'),
    'job.yaml:3:5: addresses[0]: found 0x00aB, expected 0x and 40 hexadecimal digits',
  ],
  [
    'an address has no 0x',
    list(`'${A}'`, B.slice(2)),
    `job.yaml:4:5: addresses[1]: found "${B.slice(2)}", expected 0x and 40 hexadecimal digits (did you mean "${B}"?)`,
  ],
  [
    'an address is a digit long',
    list(`'${A}b'`),
    `addresses[0]: found "${A}b", expected 0x and 40 hexadecimal digits (not 41)`,
  ],
  [
    'an address is a link to an explorer',
    list(`https://explorer.example.com/address/${A}?tab=txs`),
    `expected 0x and 40 hexadecimal digits (did you mean "${A}"?)`,
  ],
  [
    'an address has its chain before it',
    list(`'avax:${A}'`),
    `found "avax:${A}", expected 0x and 40 hexadecimal digits (did you mean "${A}"?)`,
  ],
  [
    'an address has a letter in place of a zero',
    list(`'0xO${'a'.repeat(39)}'`),
    `expected 0x and 40 hexadecimal digits ("O" is not a hex digit)`,
  ],
  [
    'an address is shortened',
    list('0x58A5…1b25'),
    'found "0x58A5…1b25", expected 0x and 40 hexadecimal digits (the full address)',
  ],
  [
    'an address is a name',
    list('vitalik.eth'),
    'addresses[0]: found "vitalik.eth", expected 0x and 40 hexadecimal digits (names are not looked up)',
  ],
  [
    "an address is Solana's",
    list('7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK'),
    `expected 0x and 40 hexadecimal digits (this looks like a Solana address)`,
  ],
  [
    "an address is Bitcoin's",
    list('bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'),
    'expected 0x and 40 hexadecimal digits (Bitcoin is not an EVM chain)',
  ],
  [
    'an address is one of the X-chain',
    list('X-avax1tzdcgj4ehsvhhgpl7zylwpw0gl2rxcg4r5afk5'),
    "expected 0x and 40 hexadecimal digits (the C-chain's address begins with 0x)",
  ],
  [
    'an address is null',
    list(`'${A}'`, '~'),
    'job.yaml:4:5: addresses[1]: found ~, expected 0x and 40 hexadecimal digits, or {address, label}',
  ],
  [
    'an address repeats in capitals',
    list(`'${A}'`, `'${B}'`, `'0x${'A'.repeat(40)}'`),
    `job.yaml:5:5: addresses[2]: found "0x${'A'.repeat(40)}" again, expected each address once (first at job.yaml:3:5)`,
  ],
  [
    'an entry has a label only',
    list('label: x'),
    'job.yaml:3:5: addresses[0]: found a mapping of 1, expected a mapping with an address',
  ],
  [
    'an entry has an unknown key',
    list(`{ address: '${A}', lable: x }`),
    'addresses[0].lable: found the key "lable", expected one of address, label (did you mean "label"?)',
  ],
  [
    'a label is empty',
    list(`{ address: '${A}', label: '' }`),
    'addresses[0].label: found "", expected text of 1 to 256 characters',
  ],
  [
    'a label is a number',
    list(`{ address: '${A}', label: 2024 }`),
    'addresses[0].label: found 2024, expected text of 1 to 256 characters, none of them a control character (did you mean "2024"?)',
  ],
  [
    'a label is 257 characters long',
    list(`{ address: '${A}', label: ${'x'.repeat(257)} }`),
    'addresses[0].label: found "xxx',
  ],
  [
    'a label has a line end',
    list(`{ address: '${A}', label: "a\\nb" }`),
    'addresses[0].label: found "a\\nb", expected text of 1 to 256',
  ],
  [
    'addresses and a file are named',
    `${LEAST}addressesFile: w.csv`,
    'job.yaml:3:16: addressesFile: found "w.csv", expected addresses or addressesFile, not both',
    { beside: { 'w.csv': B } },
  ],
]

test('does not show a possible private key', async () => {
  for (const item of [`'0x${'5'.repeat(64)}'`, '5'.repeat(64), `'${'5'.repeat(64)}'`]) {
    const { message } = await refusalOf(list(item))
    expect(message).toContain(
      'addresses[0]: found text of 64 hexadecimal digits (not shown), expected 0x and 40',
    )
    expect(message).toContain('or a private key; never put a private key in a file')
    expect(message).not.toContain('55555')
  }
})

test.for(WRONG)('rejects a job with the location of the error when %s', expectRefusal)
