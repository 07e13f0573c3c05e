import { expect, test } from 'vitest'
import { expectRefusal, LEAST, refusalOf, type Wrong } from './helpers.ts'

const WRONG: readonly Wrong[] = [
  {
    when: '--concurrency is zero',
    text: LEAST,
    overrides: { concurrency: 0 },
    says: '--concurrency: found 0, expected an integer, 1 to 256',
  },
  {
    when: '--concurrency is no number',
    text: LEAST,
    overrides: { concurrency: Number.NaN },
    says: '--concurrency: found NaN, expected an integer, 1 to 256',
  },
  {
    when: '--tables is misspelt',
    text: LEAST,
    overrides: { tables: ['ledger,leger'] },
    says: '--tables: found "leger", expected one of',
  },
  {
    when: '--compression does not fit',
    text: LEAST,
    overrides: { compression: 'snappy' },
    says: '--compression: found "snappy", expected one of none, gzip (the format is csv)',
  },
  {
    when: '--output is empty',
    text: LEAST,
    overrides: { output: '' },
    says: '--output: found "", expected text of 1 to',
  },
  {
    when: 'WALLETLAKE_BASE_URL is empty',
    text: LEAST,
    env: { WALLETLAKE_BASE_URL: '' },
    says: 'WALLETLAKE_BASE_URL: found "", expected an http or https URL',
  },
]

test.for(WRONG)('rejects a job with the location of the error when $when', expectRefusal)

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
