import { expect, test } from 'vitest'
import { A, B, expectRefusal, LEAST, refusalOf, type Wrong } from './helpers.ts'

const HEX_39 = `0x${'a'.repeat(39)}`
const list = (...items: string[]) => `chain: 1\naddresses:\n${items.map((item) => `  - ${item}\n`).join('')}`

const WRONG: readonly Wrong[] = [
  {
    when: 'the name has capitals',
    text: `${LEAST}name: Mine`,
    says: 'job.yaml:3:7: name: found "Mine", expected a name of 1 to 64 of a-z, 0-9',
  },
  {
    when: 'the name climbs out of the output',
    text: `${LEAST}name: ../x`,
    says: 'job.yaml:3:7: name: found "../x", expected a name',
  },
  {
    when: "the file's name is no name",
    name: 'My Job.yaml',
    text: LEAST,
    says: 'My Job.yaml:1:1: name: found "My Job", expected a name of 1 to 64 of a-z, 0-9, ".", "_" and "-", the first a letter or digit: set name',
  },
  {
    when: 'the chain is missing',
    text: `addresses: ['${A}']`,
    says: 'job.yaml:1:1: chain: found nothing, expected a chain id',
  },
  {
    when: 'the chain has a slash',
    text: `chain: a/b\naddresses: ['${A}']`,
    says: 'job.yaml:1:8: chain: found "a/b", expected a chain id',
  },
  {
    when: 'the chain is a way up',
    text: `chain: ..\naddresses: ['${A}']`,
    says: 'job.yaml:1:8: chain: found "..", expected a chain id',
  },
  {
    when: 'the chain is negative',
    text: `chain: -1\naddresses: ['${A}']`,
    says: 'job.yaml:1:8: chain: found -1, expected a chain id',
  },
  {
    when: 'the chain is hexadecimal',
    text: `chain: 0xA86A\naddresses: ['${A}']`,
    says: 'job.yaml:1:8: chain: found 0xA86A, expected a chain id',
  },
  {
    when: 'the chain has a fraction',
    text: `chain: 1.5\naddresses: ['${A}']`,
    says: 'job.yaml:1:8: chain: found 1.5, expected a chain id',
  },
  {
    when: 'the chain is empty',
    text: `chain:\naddresses: ['${A}']`,
    says: 'chain: found null, expected a chain id',
  },
  {
    when: 'addresses are missing',
    text: 'chain: 1',
    says: 'job.yaml:1:1: addresses: found nothing, expected addresses or addressesFile',
  },
  {
    when: 'addresses are an empty list',
    text: 'chain: 1\naddresses: []',
    says: 'job.yaml:2:12: addresses: found an empty list, expected at least one address',
  },
  {
    when: 'addresses are one text',
    text: `chain: 1\naddresses: '${A}'`,
    says: `job.yaml:2:12: addresses: found "${A}", expected a list of addresses`,
  },
  {
    when: 'an address is a digit short',
    text: list(`'${HEX_39}'`),
    says: `job.yaml:3:5: addresses[0]: found "${HEX_39}", expected 0x and 40 hexadecimal digits`,
  },
  {
    when: 'an unquoted address is short',
    text: list('0x00aB'),
    says: 'job.yaml:3:5: addresses[0]: found 0x00aB, expected 0x and 40 hexadecimal digits',
  },
  {
    when: 'an address has no 0x',
    text: list(`'${A}'`, B.slice(2)),
    says: `job.yaml:4:5: addresses[1]: found "${B.slice(2)}", expected 0x and 40 hexadecimal digits (did you mean "${B}"?)`,
  },
  {
    when: 'an address is a digit long',
    text: list(`'${A}b'`),
    says: `addresses[0]: found "${A}b", expected 0x and 40 hexadecimal digits (not 41)`,
  },
  {
    when: 'an address is a link to an explorer',
    text: list(`https://explorer.example.com/address/${A}?tab=txs`),
    says: `expected 0x and 40 hexadecimal digits (did you mean "${A}"?)`,
  },
  {
    when: 'an address has its chain before it',
    text: list(`'avax:${A}'`),
    says: `found "avax:${A}", expected 0x and 40 hexadecimal digits (did you mean "${A}"?)`,
  },
  {
    when: 'an address has a letter in place of a zero',
    text: list(`'0xO${'a'.repeat(39)}'`),
    says: `expected 0x and 40 hexadecimal digits ("O" is not a hex digit)`,
  },
  {
    when: 'an address is shortened',
    text: list('0x58A5…1b25'),
    says: 'found "0x58A5…1b25", expected 0x and 40 hexadecimal digits (the full address)',
  },
  {
    when: 'an address is a name',
    text: list('vitalik.eth'),
    says: 'addresses[0]: found "vitalik.eth", expected 0x and 40 hexadecimal digits (names are not looked up)',
  },
  {
    when: "an address is Solana's",
    text: list('7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK'),
    says: `expected 0x and 40 hexadecimal digits (this looks like a Solana address)`,
  },
  {
    when: "an address is Bitcoin's",
    text: list('bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'),
    says: 'expected 0x and 40 hexadecimal digits (Bitcoin is not an EVM chain)',
  },
  {
    when: 'an address is one of the X-chain',
    text: list('X-avax1tzdcgj4ehsvhhgpl7zylwpw0gl2rxcg4r5afk5'),
    says: "expected 0x and 40 hexadecimal digits (the C-chain's address begins with 0x)",
  },
  {
    when: 'an address is null',
    text: list(`'${A}'`, '~'),
    says: 'job.yaml:4:5: addresses[1]: found ~, expected 0x and 40 hexadecimal digits, or {address, label}',
  },
  {
    when: 'an address repeats in capitals',
    text: list(`'${A}'`, `'${B}'`, `'0x${'A'.repeat(40)}'`),
    says: `job.yaml:5:5: addresses[2]: found "0x${'A'.repeat(40)}" again, expected each address once (first at job.yaml:3:5)`,
  },
  {
    when: 'an entry has a label only',
    text: list('label: x'),
    says: 'job.yaml:3:5: addresses[0]: found a mapping of 1, expected a mapping with an address',
  },
  {
    when: 'an entry has an unknown key',
    text: list(`{ address: '${A}', lable: x }`),
    says: 'addresses[0].lable: found the key "lable", expected one of address, label (did you mean "label"?)',
  },
  {
    when: 'a label is empty',
    text: list(`{ address: '${A}', label: '' }`),
    says: 'addresses[0].label: found "", expected text of 1 to 256 characters',
  },
  {
    when: 'a label is a number',
    text: list(`{ address: '${A}', label: 2024 }`),
    says: 'addresses[0].label: found 2024, expected text of 1 to 256 characters, none of them a control character (did you mean "2024"?)',
  },
  {
    when: 'a label is 257 characters long',
    text: list(`{ address: '${A}', label: ${'x'.repeat(257)} }`),
    says: 'addresses[0].label: found "xxx',
  },
  {
    when: 'a label has a line end',
    text: list(`{ address: '${A}', label: "a\\nb" }`),
    says: 'addresses[0].label: found "a\\nb", expected text of 1 to 256',
  },
  {
    when: 'addresses and a file are named',
    text: `${LEAST}addressesFile: w.csv`,
    beside: { 'w.csv': B },
    says: 'job.yaml:3:16: addressesFile: found "w.csv", expected addresses or addressesFile, not both',
  },
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

test.for(WRONG)('rejects a job with the location of the error when $when', expectRefusal)
