import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readJob } from '../../src/job/read-job.ts'
import { A, B, expectRefusal, folderWith, jobOf, LEAST, refusalOf, type Wrong } from './helpers.ts'

const list = (lines: string) => `chain: 1\naddresses:\n${lines}service:\n  baseUrl: demo\n`

/** Mistakes that make the YAML invalid or change its meaning. */
const YAML_MISTAKES: readonly Wrong[] = [
  ['tabs indent', list(`\t- "${A}"\n`), 'job.yaml:3:1: found a tab as indentation, expected spaces'],
  [
    'a list has no dashes',
    list(`  "${A}"\n  "${B}"\n`),
    'job.yaml:4:3: found a value without "- ", expected "- " before each entry of a list',
  ],
  [
    'one entry has no dash',
    list(`  - ${A}\n  ${B}\n`),
    'job.yaml:4:3: found a value without "- ", expected "- " before each entry of a list',
  ],
  [
    'unquoted entries have no dashes',
    list(`  ${A}\n  ${B}\n`),
    `job.yaml:3:3: addresses: found "${A} ${B}", expected a list of addresses, each on its own line after "- "`,
  ],
  [
    'dashes have no space',
    list(`  -${A}\n`),
    `job.yaml:3:3: addresses: found "-${A}", expected a list of addresses: a space behind each "-"`,
  ],
  [
    'a list item is one space short',
    list(`  - ${A}\n - ${B}\n`),
    'job.yaml:4:2: found "- " after 1 space, expected 2, as in the line above',
  ],
  [
    'a list item is one space long',
    list(`  - "${A}"\n   - "${B}"\n`),
    'job.yaml:4:4: found "- " after 3 spaces, expected 2, as in the line above',
  ],
  [
    'a label is one space short',
    list(`  - address: ${A}\n   label: x\n`),
    'job.yaml:4:4: found a key after 3 spaces, expected 4, as in the line above',
  ],
  [
    'a label is one space long',
    list(`  - address: ${A}\n     label: x\n`),
    'job.yaml:4:6: found a key after 5 spaces, expected 4, as in the line above',
  ],
  [
    'a field is indented',
    `chain: 1\n  addresses:\n  - ${A}\n`,
    'job.yaml:2:3: found a key after 2 spaces, expected 0, as in the line above',
  ],
  [
    'the first field is indented',
    `  chain: 1\naddresses:\n  - ${A}\n`,
    'job.yaml:2:1: found a key after 0 spaces, expected 2, as in the line above',
  ],
  [
    'a colon has no space',
    `chain:1\naddresses:\n  - ${A}\n`,
    'job.yaml:1:6: found ":" without a space, expected a space after it',
  ],
  [
    'a label has a colon',
    list(`  - address: ${A}\n    label: main: hot\n`),
    'job.yaml:4:12: found a second ":" in the line, expected quotes around a text that has ": " in it',
  ],
  [
    'a quote is open',
    list(`  - "${A}\n`),
    'job.yaml:3:5: found a " that is never closed, expected a " after the text',
  ],
  [
    'a bracket is open',
    `chain: 1\naddresses: ["${A}"\nservice:\n  baseUrl: demo\n`,
    'job.yaml:2:12: found a [ that is never closed, expected a ] after its last entry',
  ],
  [
    'a comma ends a line',
    `chain: 1\naddresses: ["${A}"],\n`,
    `job.yaml:2:${16 + A.length}: found a "," after the value, expected nothing there`,
  ],
  [
    'a chain is named rather than numbered',
    `chain: avalanche\naddresses: ["${A}"]\n`,
    'job.yaml:1:8: chain: found "avalanche", expected a chain id: an integer, or text of letters, digits, "-", "_" and "." (did you mean 43114?)',
  ],
  [
    'a comma ends a number',
    `chain: 1,\naddresses: ["${A}"]\n`,
    'job.yaml:1:8: chain: found "1,", expected a chain id: an integer, or text of letters, digits, "-", "_" and "." (did you mean 1?)',
  ],
  [
    'a comma of JSON is missing',
    `{"chain": 1 "addresses": ["${A}"]}`,
    'job.json:1:11: found two entries with nothing between, expected a "," between them',
    { name: 'job.json' },
  ],
  [
    'JSON has a comment',
    `{"chain": 1, // mine\n"addresses": ["${A}"]}`,
    'expected # before a comment',
    { name: 'job.json' },
  ],
  [
    'dashes stand in brackets',
    `chain: 1\naddresses: [\n  - ${A}\n]\n`,
    'job.yaml:3:1: found "- " inside brackets, expected "- " or brackets, not both',
  ],
  [
    'a value begins with a reserved sign',
    `${LEAST}output: @home\n`,
    'job.yaml:3:9: found a value that begins with @, expected quotes around it',
  ],
  [
    'a path of Windows stands in double quotes',
    'chain: 1\naddressesFile: "C:\\Users\\w.csv"\n',
    'job.yaml:2:19: found one \\ in double quotes, expected two of them, or single quotes around the text',
  ],
  [
    'a no-break space indents',
    `chain: 1\naddresses:\n\u00a0- ${A}\n`,
    'job.yaml:3:1: found a no-break space, expected a plain space',
  ],
  [
    'an unquoted list item is one space long',
    list(`  - ${A}\n   - ${B}\n`),
    `addresses[0]: found "${A} - ${B}", expected one address per list item`,
  ],
  [
    'a mistake stands below a bracket that was never opened',
    `${LEAST}keepRaw: ]\nfees: auto\n feesBudget: 3\n`,
    'job.yaml:5:2: found a key after 1 space, expected 0, as in the line above',
  ],
  [
    'equals signs assign',
    `chain = 1\naddresses = ${A}\n`,
    'job.yaml:1:1: found text, expected a mapping of fields, each a line "name: value"',
  ],
]

/** Invalid values that new users try. */
const VALUES: readonly Wrong[] = [
  ['the chain is hexadecimal', `chain: 0xa86a\naddresses: ["${A}"]`, '(did you mean "43114"?)'],
  [
    'endBlock is latest',
    `${LEAST}endBlock: latest`,
    `job.yaml:3:11: endBlock: found "latest", expected an integer, 1 or more (without the field: the chain's head)`,
  ],
  [
    'startBlock is a date',
    `${LEAST}startBlock: 2021-01-01`,
    'startBlock: found "2021-01-01", expected an integer, 0 or more: a number, not a date',
  ],
  [
    'startBlock is beyond all chains',
    `${LEAST}startBlock: 99999999999999999999999`,
    'startBlock: found 99999999999999999999999, expected an integer, 0 to 9007199254740991',
  ],
  [
    'startBlock is hexadecimal text',
    `${LEAST}startBlock: '0x10'`,
    'startBlock: found "0x10", expected an integer, 0 or more (did you mean 16?)',
  ],
  ['finality is in words', `${LEAST}finality: 10 minutes`, '1h or 2d (did you mean "10m"?)'],
  ['tables are one name', `${LEAST}tables: ledger`, '(did you mean [ledger]?)'],
  [
    'tables are names with commas',
    `${LEAST}tables: ledger, transaction`,
    '(did you mean [ledger, transactions]?)',
  ],
  ['tables are all', `${LEAST}tables: all`, 'ledger (without the field: all)'],
  ['partitionBy is an adverb', `${LEAST}partitionBy: daily`, '(did you mean "day"?)'],
  ['partitionBy is a number of blocks', `${LEAST}partitionBy: 100000`, '(did you mean "blocks:100000"?)'],
  ['targetFileSize is in MiB', `${LEAST}targetFileSize: 256 MiB`, '(did you mean "256MB"?)'],
  ['the name has capitals and blanks', `${LEAST}name: My Job`, '(did you mean "my-job"?)'],
  [
    "the file's name has capitals",
    LEAST,
    'set name, because the file\'s name is not valid (did you mean "treasury"?)',
    { name: 'Treasury.yaml' },
  ],
  [
    'baseUrl has no scheme',
    `${LEAST}service:\n  baseUrl: api.example.com/x`,
    '(did you mean "https://api.example.com/x"?)',
  ],
  [
    'baseUrl is a host that was switched off',
    `${LEAST}service:\n  baseUrl: https://api.bscscan.com/api`,
    'api.bscscan.com was switched off in 2025; keys of etherscan.io are valid for all chains (did you mean "https://api.etherscan.io/v2/api"?)',
  ],
  [
    'baseUrl is the web site of an explorer',
    `${LEAST}service:\n  baseUrl: https://etherscan.io`,
    'expected another URL: etherscan.io is a web site',
  ],
  [
    'baseUrl is a host that was switched off, without a scheme',
    `${LEAST}service:\n  baseUrl: api.bscscan.com`,
    '(did you mean "https://api.etherscan.io/v2/api"?)',
  ],
  [
    'baseUrl is a local port',
    `${LEAST}service:\n  baseUrl: localhost:8787`,
    '(did you mean "http://localhost:8787"?)',
  ],
]

test.for([...YAML_MISTAKES, ...VALUES])('reports the mistake and the correction when %s', expectRefusal)

test('reports a YAML error once, on one line', async () => {
  for (const [, text] of YAML_MISTAKES.slice(0, 3)) {
    const folder = await folderWith({ 'job.yaml': text })
    await expect(readJob(join(folder, 'job.yaml'), { overrides: {}, env: {} })).rejects.toThrow(/^[^\n]*$/)
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

/** Mistakes in one line of a job that is complete otherwise. */
const WRONG_LINES: readonly (readonly [line: string, says: string])[] = [
  ['adress: x', `found the key "adress", expected a field's name (did you mean "addresses"?)`],
  ['network: avax', '(did you mean "chain"?)'],
  ['end_block: 9', '(did you mean "endBlock"?)'],
  ['baseUrl: https://api.example.com', '(did you mean "service.baseUrl"?)'],
  ['escapeFormulas: false', 'expected the option --no-escape-formulas on the command line'],
  ['apiKey: 123', 'found a key (not shown), expected no API key in a job file'],
  ['chain: 1\nchain: 2', 'found the key "chain" again, expected each key once'],
  ['chain: a/b', 'found "a/b", expected a chain id'],
  ['addresses: []', 'found an empty list, expected at least one address'],
  ['addresses: ["0x58A5…1b25"]', 'expected 0x and 40 hexadecimal digits (the full address)'],
  ['addresses: [vitalik.eth]', '(names are not looked up)'],
  [
    'addresses: ["0x58a57ED9d8d624cBD12e2C467D34787555bB1b25"]',
    'expected 0x58A57ed9d8d624cBD12e2C467D34787555bB1b25, by its checksum (EIP-55)',
  ],
  ['name: ../x', 'found "../x", expected a name of 1 to 64 of a-z, 0-9, ".", "_" and "-"'],
  ['startBlock: -1', 'found -1, expected an integer, 0 or more'],
  ['startBlock: 17_000_000', '(did you mean 17000000?)'],
  ['endBlock: 0', 'found 0, expected an integer, 1 or more'],
  ['tables: ledger', 'found "ledger", expected a list of at least one of transactions,'],
  ['tables: [ledgers]', '(did you mean "ledger"?)'],
  ['format: CSV', 'found "CSV", expected one of csv, parquet (did you mean "csv"?)'],
  ['compression: zstd', 'found "zstd", expected one of none, gzip (the format is csv)'],
  ['maxRowsPerFile: 0', 'found 0, expected an integer, 1 or more'],
  ['targetFileSize: 12', 'expected a size such as 256MB: a whole number from 1 with KB, MB or GB'],
  ['partitionBy: week', 'expected none, day, month or blocks:<n>, n a whole number from 1'],
  ['concurrency: 257', 'found 257, expected an integer, 1 to 256'],
  ['finality: 90', '(did you mean "90s"?)'],
  ['keepRaw: yes', '(did you mean true?)'],
  ['nativeSymbol: ""', 'expected text of 1 to 32 characters, none of them a control character'],
  ['service: demo', 'found text, expected a mapping of baseUrl'],
  ['service: { baseUrl: api.example.com }', 'expected an http or https URL'],
  ['service: { apiKeyHeader: Host }', 'expected a header that HTTP itself does not use'],
  ['service: { timeout: 61m }', 'expected a duration from 1ms to 1h'],
]

test.for(WRONG_LINES)('%s: the error names the value and what was expected', async ([line, says]) => {
  const others = [`addresses: ["${A}"]`, 'chain: 1'].filter((field) => !line.startsWith(field.slice(0, 5)))
  const { code, message } = await refusalOf([...others, line].join('\n').concat('\n'))
  expect(code).toBe('JOB_INVALID')
  expect(message).toContain(says)
  expect(message.split('\n')).toHaveLength(1)
})
