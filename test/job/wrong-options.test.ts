import { expect, test } from 'vitest'
import { expectRefusal, LEAST, refusalOf, type Wrong } from './helpers.ts'

const WRONG: readonly Wrong[] = [
  [
    '--concurrency is zero',
    LEAST,
    '--concurrency: found 0, expected an integer, 1 to 256',
    { overrides: { concurrency: 0 } },
  ],
  [
    '--concurrency is no number',
    LEAST,
    '--concurrency: found NaN, expected an integer, 1 to 256',
    { overrides: { concurrency: Number.NaN } },
  ],
  [
    '--tables is misspelt',
    LEAST,
    '--tables: found "leger", expected one of',
    { overrides: { tables: ['ledger,leger'] } },
  ],
  [
    '--compression does not fit',
    LEAST,
    '--compression: found "snappy", expected one of none, gzip (the format is csv)',
    { overrides: { compression: 'snappy' } },
  ],
  ['--output is empty', LEAST, '--output: found "", expected text of 1 to', { overrides: { output: '' } }],
  [
    'WALLETLAKE_BASE_URL is empty',
    LEAST,
    'WALLETLAKE_BASE_URL: found "", expected an http or https URL',
    { env: { WALLETLAKE_BASE_URL: '' } },
  ],
]

test.for(WRONG)('rejects a job with the location of the error when %s', expectRefusal)

test('lists all diagnostics in order of their locations', async () => {
  const text = 'concurrency: 0\nchain: a b\nwat: 1\naddresses: [1]\nendBlock: -1\n'
  const { message } = await refusalOf(text, {
    overrides: { format: 'xml' },
    env: { WALLETLAKE_BASE_URL: 'x' },
  })
  expect(message.split('\n').map((line) => line.split(': found')[0])).toEqual([
    '--format',
    'WALLETLAKE_BASE_URL',
    'job.yaml:1:14: concurrency',
    'job.yaml:2:8: chain',
    'job.yaml:3:1: wat',
    'job.yaml:4:13: addresses[0]',
    'job.yaml:5:11: endBlock',
    expect.stringMatching(/^The fields are name, kind, chain, .*, service, catalog, store\.$/),
  ])
})
