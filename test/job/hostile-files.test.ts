import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ExportError } from '../../src/core/model/errors.ts'
import { readJob } from '../../src/job/read-job.ts'
import { MAX_JOB_FILE_BYTES } from '../../src/job/yaml/read-job-text.ts'
import { testSample } from '../helpers/test-sample.ts'
import { A, expectRefusal, folderWith, jobOf, LEAST, refusalOf, type Wrong } from './helpers.ts'

const laughs = Array.from({ length: 12 }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(9)}]`)

test.for<Wrong>([
  ['brackets nest without end', '['.repeat(50_000), 'job.yaml:1:18: found more than 16 levels of nesting'],
  ['dashes nest without end', `${'- '.repeat(50_000)}x`, 'found more than 16 levels of nesting'],
  [
    'aliases multiply',
    `a0: &a0 [lol]\n${laughs.join('\n')}`,
    'job.yaml:2:10: a1[0]: found an alias, expected',
  ],
  ['an alias holds itself', `addresses: &a [*a]`, 'job.yaml:1:16: addresses[0]: found an alias, expected'],
  [
    'the bytes are not UTF-8',
    Buffer.from('chain: 1\nname: \xe9t\xe9\n', 'latin1'),
    'job.yaml:2:1: found bytes that are not UTF-8, expected UTF-8 text',
  ],
  [
    'the file is UTF-16 without its mark',
    Buffer.from(LEAST, 'utf16le'),
    'job.yaml:1:1: found UTF-16 without a byte order mark, expected UTF-8 text',
  ],
  [
    'the file is half a UTF-16 character',
    Buffer.from(`\ufeff${LEAST}\ud800`, 'utf16le'),
    'found broken UTF-16, expected UTF-8 text',
  ],
  [
    'the file is too large',
    Buffer.alloc(MAX_JOB_FILE_BYTES + 1, '#'),
    'job.yaml:1:1: found a file of 8388609 bytes, expected at most 8388608 bytes',
  ],
  [
    'the file names __proto__',
    `${LEAST}__proto__: { name: x }`,
    `found the key "__proto__", expected a field's name`,
  ],
  [
    'text plays with the terminal',
    `${LEAST}format: "\\e[2J\\u202e\\x9b"`,
    'found "\\u001b[2J\\u202e\\u009b", expected',
  ],
  [
    'YAML 1.1 is requested',
    `%YAML 1.1\n---\n${LEAST}keepRaw: on`,
    'keepRaw: found "on", expected true or false',
  ],
])('rejects a job without a crash when %s', expectRefusal)

test('rejects a job without a crash when it has millions of empty entries', { tags: ['long'] }, async () => {
  const says =
    'job.yaml:1:1: found too many entries or lines, expected a job (many wallets go into an addressesFile)'
  await expectRefusal(['it has many entries', '-\n'.repeat(1_300_000), says])
})

test('shows the first twenty errors of invalid YAML', async () => {
  const { message } = await refusalOf(`"" ${'"" '.repeat(30)}`)
  const places = message.split('\n').map((line) => line.split(': found')[0])
  expect(places).toEqual(Array.from({ length: 20 }, (_, n) => `job.yaml:1:${4 + 3 * n}`))
})

test('rejects a missing job file and a folder', async () => {
  const folder = await folderWith({})
  await mkdir(join(folder, 'jobs.yaml'))
  const read = (name: string) => readJob(join(folder, name), { overrides: {}, env: {} })
  await expect(read('no.yaml')).rejects.toThrow(/no\.yaml: no such file$/)
  await expect(read('jobs.yaml')).rejects.toThrow(
    /jobs\.yaml:1:1: found a directory,\s+expected a job file \(for an output, name the job file that wrote it\)$/,
  )
  for (const name of ['no.yaml', 'jobs.yaml'])
    await expect(read(name)).rejects.toMatchObject({
      fix: 'Name a job file that can be read; `walletlake init` writes one.',
    })
})

/** Jobs with known fields and arbitrary values, so that not only the first checks are exercised. */
const nearlyJobs = fc.record(
  {
    name: fc.oneof(fc.string(), fc.constant('x')),
    chain: fc.oneof(fc.nat(), fc.string(), fc.constant('43114')),
    addresses: fc.oneof(
      fc.jsonValue(),
      fc.array(fc.oneof(fc.constant(A), fc.record({ address: fc.constant(A), label: fc.jsonValue() }))),
    ),
    startBlock: fc.jsonValue(),
    endBlock: fc.oneof(fc.integer(), fc.double()),
    tables: fc.oneof(fc.jsonValue(), fc.constant(['ledger'])),
    format: fc.oneof(fc.jsonValue(), fc.constantFrom('csv', 'parquet')),
    compression: fc.oneof(fc.jsonValue(), fc.constantFrom('gzip', 'zstd')),
    finality: fc.oneof(fc.jsonValue(), fc.constant('10m')),
    service: fc.oneof(
      fc.jsonValue(),
      fc.record({ baseUrl: fc.oneof(fc.webUrl(), fc.string()), timeout: fc.jsonValue() }),
    ),
  },
  { requiredKeys: [] },
)

testSample(
  1,
  [100, 1_000],
  'any JSON value becomes a job or a JOB_INVALID error: %i values',
  async (numRuns) => {
    const outcomes = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue(), nearlyJobs), fc.nat(4), async (value, indent) => {
        const folder = await folderWith({ 'job.json': JSON.stringify(value, null, indent) })
        outcomes.add(await outcomeOf(join(folder, 'job.json')))
      }),
      { numRuns, examples: [[{ chain: 1, addresses: [A] }, 0]] },
    )
    expect([...outcomes].sort()).toEqual(['JOB_INVALID', 'a job'])
  },
)

test('any bytes become a job or a JOB_INVALID error', async () => {
  const text = fc.oneof(fc.uint8Array(), fc.stringMatching(/^[-\s:{}[\]&*!|>'"%@`#a0?,]*$/).map(Buffer.from))
  await fc.assert(
    fc.asyncProperty(text, async (bytes) => {
      const folder = await folderWith({ 'job.yaml': bytes })
      expect(await outcomeOf(join(folder, 'job.yaml'))).toBe('JOB_INVALID')
    }),
    { numRuns: 500 },
  )
})

test('gives the same wallets for any order and letter case of addresses', async () => {
  const hex = fc.stringMatching(/^[0-9a-f]{40}$/)
  const order = fc
    .uniqueArray(hex, { minLength: 1 })
    .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })))
  await fc.assert(
    fc.asyncProperty(order, async ([all, shuffled]) => {
      const job = await jobOf(
        `chain: 1\naddresses:\n${shuffled.map((each) => `  - 0x${each.toUpperCase()}\n`).join('')}`,
      )
      expect(job.wallets.map(({ address }) => address)).toEqual(all.map((each) => `0x${each}`).sort())
    }),
    { numRuns: 50 },
  )
})

async function outcomeOf(file: string): Promise<string> {
  try {
    await readJob(file, { overrides: {}, env: {} })
    return 'a job'
  } catch (error) {
    if (!(error instanceof ExportError) || error.message === '') throw error
    return error.code
  }
}
