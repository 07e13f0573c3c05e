import { expect, test } from 'vitest'
import { DEFAULT_TABLES, TABLE_NAMES } from '../../src/core/table/index.ts'
import { A, expectRefusal, jobOf, type Wrong } from './helpers.ts'

const job = (lines: string) => `addresses: ['${A}']\n${lines}`

test('atomic: true adds the table to the default ones, on any spelling of the C-Chain', async () => {
  for (const chain of ['43114', '43113', '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5'])
    expect(await jobOf(job(`chain: ${chain}\natomic: true\n`))).toMatchObject({
      atomic: true,
      tables: TABLE_NAMES,
    })
  expect(await jobOf(job('chain: 43114\n'))).toMatchObject({ atomic: false, tables: DEFAULT_TABLES })
})

const WRONG: readonly Wrong[] = [
  [
    'the chain is another one',
    job('chain: 1\natomic: true\n'),
    'job.yaml:3:9: atomic: found true, expected false: only the C-Chain (43114, 43113) has atomic transactions',
  ],
  [
    'it exports blocks',
    'kind: blocks\nchain: 43114\nstartBlock: 1\nendBlock: 2\natomic: true\n',
    'atomic: found true, expected false: blocks do not list atomic transactions (the kind is blocks)',
  ],
  [
    'it names the table without the field',
    job('chain: 43114\ntables: [ledger, atomic_transactions]\n'),
    'tables: found atomic_transactions, expected no atomic_transactions without atomic: true',
  ],
]

test.for(WRONG)('refuses a job when %s', expectRefusal)
