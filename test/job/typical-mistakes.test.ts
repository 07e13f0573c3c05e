import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readJob } from '../../src/job/read-job.ts'
import { A, B, expectRefusal, folderWith, jobOf, LEAST, type Wrong } from './helpers.ts'

const list = (lines: string) => `chain: 1\naddresses:\n${lines}service:\n  baseUrl: demo\n`

/** Mistakes that make the YAML invalid or change its meaning. */
const YAML_MISTAKES: readonly Wrong[] = [
  {
    when: 'tabs indent',
    text: list(`\t- "${A}"\n`),
    says: 'job.yaml:3:1: found a tab as indentation, expected spaces',
  },
  {
    when: 'a list has no dashes',
    text: list(`  "${A}"\n  "${B}"\n`),
    says: 'job.yaml:4:3: found a value without "- ", expected "- " before each entry of a list',
  },
  {
    when: 'one entry has no dash',
    text: list(`  - ${A}\n  ${B}\n`),
    says: 'job.yaml:4:3: found a value without "- ", expected "- " before each entry of a list',
  },
  {
    when: 'unquoted entries have no dashes',
    text: list(`  ${A}\n  ${B}\n`),
    says: `job.yaml:3:3: addresses: found "${A} ${B}", expected a list of addresses, each on its own line after "- "`,
  },
  {
    when: 'dashes have no space',
    text: list(`  -${A}\n`),
    says: `job.yaml:3:3: addresses: found "-${A}", expected a list of addresses: a space behind each "-"`,
  },
  {
    when: 'a list item is one space short',
    text: list(`  - ${A}\n - ${B}\n`),
    says: 'job.yaml:4:2: found "- " after 1 space, expected 2, as in the line above',
  },
  {
    when: 'a list item is one space long',
    text: list(`  - "${A}"\n   - "${B}"\n`),
    says: 'job.yaml:4:4: found "- " after 3 spaces, expected 2, as in the line above',
  },
  {
    when: 'a label is one space short',
    text: list(`  - address: ${A}\n   label: x\n`),
    says: 'job.yaml:4:4: found a key after 3 spaces, expected 4, as in the line above',
  },
  {
    when: 'a label is one space long',
    text: list(`  - address: ${A}\n     label: x\n`),
    says: 'job.yaml:4:6: found a key after 5 spaces, expected 4, as in the line above',
  },
  {
    when: 'a field is indented',
    text: `chain: 1\n  addresses:\n  - ${A}\n`,
    says: 'job.yaml:2:3: found a key after 2 spaces, expected 0, as in the line above',
  },
  {
    when: 'the first field is indented',
    text: `  chain: 1\naddresses:\n  - ${A}\n`,
    says: 'job.yaml:2:1: found a key after 0 spaces, expected 2, as in the line above',
  },
  {
    when: 'a colon has no space',
    text: `chain:1\naddresses:\n  - ${A}\n`,
    says: 'job.yaml:1:6: found ":" without a space, expected a space after it',
  },
  {
    when: 'a label has a colon',
    text: list(`  - address: ${A}\n    label: main: hot\n`),
    says: 'job.yaml:4:12: found a second ":" in the line, expected quotes around a text that has ": " in it',
  },
  {
    when: 'a quote is open',
    text: list(`  - "${A}\n`),
    says: 'job.yaml:3:5: found a " that is never closed, expected a " after the text',
  },
  {
    when: 'a bracket is open',
    text: `chain: 1\naddresses: ["${A}"\nservice:\n  baseUrl: demo\n`,
    says: 'job.yaml:2:12: found a [ that is never closed, expected a ] after its last entry',
  },
  {
    when: 'a comma ends a line',
    text: `chain: 1\naddresses: ["${A}"],\n`,
    says: `job.yaml:2:${16 + A.length}: found a "," after the value, expected nothing there`,
  },
  {
    when: 'a chain is named rather than numbered',
    text: `chain: avalanche\naddresses: ["${A}"]\n`,
    says: 'job.yaml:1:8: chain: found "avalanche", expected a chain id: an integer, or text of letters, digits, "-", "_" and "." (did you mean 43114?)',
  },
  {
    when: 'a comma ends a number',
    text: `chain: 1,\naddresses: ["${A}"]\n`,
    says: 'job.yaml:1:8: chain: found "1,", expected a chain id: an integer, or text of letters, digits, "-", "_" and "." (did you mean 1?)',
  },
  {
    when: 'a comma of JSON is missing',
    name: 'job.json',
    text: `{"chain": 1 "addresses": ["${A}"]}`,
    says: 'job.json:1:11: found two entries with nothing between, expected a "," between them',
  },
  {
    when: 'JSON has a comment',
    name: 'job.json',
    text: `{"chain": 1, // mine\n"addresses": ["${A}"]}`,
    says: 'expected # before a comment',
  },
  {
    when: 'dashes stand in brackets',
    text: `chain: 1\naddresses: [\n  - ${A}\n]\n`,
    says: 'job.yaml:3:1: found "- " inside brackets, expected "- " or brackets, not both',
  },
  {
    when: 'a value begins with a reserved sign',
    text: `${LEAST}output: @home\n`,
    says: 'job.yaml:3:9: found a value that begins with @, expected quotes around it',
  },
  {
    when: 'a path of Windows stands in double quotes',
    text: 'chain: 1\naddressesFile: "C:\\Users\\w.csv"\n',
    says: 'job.yaml:2:19: found one \\ in double quotes, expected two of them, or single quotes around the text',
  },
  {
    when: 'a no-break space indents',
    text: `chain: 1\naddresses:\n\u00a0- ${A}\n`,
    says: 'job.yaml:3:1: found a no-break space, expected a plain space',
  },
  {
    when: 'an unquoted list item is one space long',
    text: list(`  - ${A}\n   - ${B}\n`),
    says: `addresses[0]: found "${A} - ${B}", expected one address per list item`,
  },
  {
    when: 'a mistake stands below a bracket that was never opened',
    text: `${LEAST}keepRaw: ]\nfees: auto\n feesBudget: 3\n`,
    says: 'job.yaml:5:2: found a key after 1 space, expected 0, as in the line above',
  },
  {
    when: 'equals signs assign',
    text: `chain = 1\naddresses = ${A}\n`,
    says: 'job.yaml:1:1: found text, expected a mapping of fields, each a line "name: value"',
  },
]

/** Invalid values that new users try. */
const VALUES: readonly Wrong[] = [
  {
    when: 'the chain is hexadecimal',
    text: `chain: 0xa86a\naddresses: ["${A}"]`,
    says: '(did you mean "43114"?)',
  },
  {
    when: 'endBlock is latest',
    text: `${LEAST}endBlock: latest`,
    says: `job.yaml:3:11: endBlock: found "latest", expected an integer, 1 or more (without the field: the chain's head)`,
  },
  {
    when: 'startBlock is a date',
    text: `${LEAST}startBlock: 2021-01-01`,
    says: 'startBlock: found "2021-01-01", expected an integer, 0 or more: a number, not a date',
  },
  {
    when: 'startBlock is beyond all chains',
    text: `${LEAST}startBlock: 99999999999999999999999`,
    says: 'startBlock: found 99999999999999999999999, expected an integer, 0 to 9007199254740991',
  },
  {
    when: 'startBlock is hexadecimal text',
    text: `${LEAST}startBlock: '0x10'`,
    says: 'startBlock: found "0x10", expected an integer, 0 or more (did you mean 16?)',
  },
  {
    when: 'finality is in words',
    text: `${LEAST}finality: 10 minutes`,
    says: '1h or 2d (did you mean "10m"?)',
  },
  { when: 'tables are one name', text: `${LEAST}tables: ledger`, says: '(did you mean [ledger]?)' },
  {
    when: 'tables are names with commas',
    text: `${LEAST}tables: ledger, transaction`,
    says: '(did you mean [ledger, transactions]?)',
  },
  { when: 'tables are all', text: `${LEAST}tables: all`, says: 'ledger (without the field: all)' },
  {
    when: 'partitionBy is an adverb',
    text: `${LEAST}partitionBy: daily`,
    says: '(did you mean "day"?)',
  },
  {
    when: 'partitionBy is a number of blocks',
    text: `${LEAST}partitionBy: 100000`,
    says: '(did you mean "blocks:100000"?)',
  },
  {
    when: 'targetFileSize is in MiB',
    text: `${LEAST}targetFileSize: 256 MiB`,
    says: '(did you mean "256MB"?)',
  },
  {
    when: 'the name has capitals and blanks',
    text: `${LEAST}name: My Job`,
    says: '(did you mean "my-job"?)',
  },
  {
    when: "the file's name has capitals",
    name: 'Treasury.yaml',
    text: LEAST,
    says: 'set name, because the file\'s name is not valid (did you mean "treasury"?)',
  },
  {
    when: 'baseUrl has no scheme',
    text: `${LEAST}service:\n  baseUrl: api.example.com/x`,
    says: '(did you mean "https://api.example.com/x"?)',
  },
  {
    when: 'baseUrl is a host that was switched off',
    text: `${LEAST}service:\n  baseUrl: https://api.bscscan.com/api`,
    says: 'api.bscscan.com was switched off in 2025; keys of etherscan.io are valid for all chains (did you mean "https://api.etherscan.io/v2/api"?)',
  },
  {
    when: 'baseUrl is the web site of an explorer',
    text: `${LEAST}service:\n  baseUrl: https://etherscan.io`,
    says: 'expected another URL: etherscan.io is a web site',
  },
  {
    when: 'baseUrl is a host that was switched off, without a scheme',
    text: `${LEAST}service:\n  baseUrl: api.bscscan.com`,
    says: '(did you mean "https://api.etherscan.io/v2/api"?)',
  },
  {
    when: 'baseUrl is a local port',
    text: `${LEAST}service:\n  baseUrl: localhost:8787`,
    says: '(did you mean "http://localhost:8787"?)',
  },
]

test.for([...YAML_MISTAKES, ...VALUES])('reports the mistake and the correction when $when', expectRefusal)

test('reports each YAML error separately', async () => {
  for (const { text } of YAML_MISTAKES.slice(0, 3)) {
    const folder = await folderWith({ 'job.yaml': text })
    await expect(readJob(join(folder, 'job.yaml'), { overrides: {}, env: {} })).rejects.toThrow(
      /^[^\n]*\n[^\n]*$/,
    )
  }
})

test.for([
  { form: 'line ends of Windows', bytes: LEAST.replaceAll('\n', '\r\n') },
  { form: 'line ends of old Macs', bytes: LEAST.replaceAll('\n', '\r') },
  { form: 'a byte order mark', bytes: `\ufeff${LEAST}` },
  { form: 'UTF-16 of PowerShell', bytes: Buffer.from(`\ufeff${LEAST.replaceAll('\n', '\r\n')}`, 'utf16le') },
  { form: 'UTF-16 the other way round', bytes: Buffer.from(`\ufeff${LEAST}`, 'utf16le').swap16() },
  { form: 'three dashes first', bytes: `---\n${LEAST}` },
  { form: 'tabs behind dashes', bytes: `chain: 1\naddresses:\n  -\t"${A}"\n` },
  { form: 'addresses without quotes', bytes: `chain: 1\naddresses:\n  - ${A}\n` },
  { form: 'digits alone as an address', bytes: `chain: 1\naddresses:\n  - 0x${'1'.repeat(40)}\n` },
])('reads a job with $form', async ({ bytes }) => {
  const { chain, wallets } = await jobOf(bytes)
  expect([chain, wallets.length]).toEqual(['1', 1])
})

test.for([
  'https://api.example.com/v1',
  'https://api.example.com/v1/',
  'https://api.example.com//v1//',
  'https://api.example.com',
])('accepts the base URL %s with or without the version', async (baseUrl) => {
  const { service } = await jobOf(`${LEAST}service:\n  baseUrl: ${baseUrl}\n`)
  expect(service.baseUrl).toBe('https://api.example.com')
})
