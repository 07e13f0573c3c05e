import { expect, test } from 'vitest'
import { A, expectRefusal, jobOf, refusalOf, type Wrong } from './helpers.ts'

const BLOCKS = 'kind: blocks\nchain: 1\nstartBlock: 5\nendBlock: 9\n'

test('reads a block job, which has no wallets and one table', async () => {
  expect(await jobOf(BLOCKS)).toMatchObject({
    kind: 'blocks',
    startBlock: 5,
    endBlock: 9,
    wallets: [],
    tables: ['transactions'],
  })
})

test('reads a job without a kind, or with the kind wallets, as a wallet job', async () => {
  const text = `chain: 1\naddresses: ['${A}']\n`
  for (const job of [await jobOf(text), await jobOf(`kind: wallets\n${text}`)]) {
    expect(job).toMatchObject({ kind: 'wallets', wallets: [{ address: A }], startBlock: 0 })
    expect(job.tables).toHaveLength(7)
  }
})

const WRONG: readonly Wrong[] = [
  [
    'the kind is misspelt',
    BLOCKS.replace('blocks', 'block'),
    'job.yaml:1:7: kind: found "block", expected one of wallets, blocks (did you mean "blocks"?)',
  ],
  [
    'the first block is missing',
    BLOCKS.replace('startBlock: 5\n', ''),
    'startBlock: found nothing, expected the first block (the kind is blocks)',
  ],
  [
    'the end is missing',
    BLOCKS.replace('endBlock: 9\n', ''),
    'endBlock: found nothing, expected the block to stop before (the kind is blocks)',
  ],
  [
    'blocks have addresses',
    `${BLOCKS}addresses: ['${A}']`,
    'job.yaml:5:12: addresses: found a list of 1, expected no wallets, because whole blocks are exported',
  ],
  [
    'blocks have a file of addresses',
    `${BLOCKS}addressesFile: no-such-file.csv`,
    'job.yaml:5:16: addressesFile: found "no-such-file.csv", expected no wallets',
  ],
  [
    'blocks have tables of wallets',
    `${BLOCKS}tables: [transactions, ledger, erc20_transfers]`,
    'job.yaml:5:9: tables: found erc20_transfers, ledger, expected only transactions',
  ],
  [
    '--tables names another for blocks',
    BLOCKS,
    '--tables: found ledger, expected only transactions, because a block listing contains nothing else',
    { overrides: { tables: ['ledger'] } },
  ],
  [
    'blocks have a finality',
    `${BLOCKS}finality: 10m`,
    'finality: found "10m", expected no finality: it cannot be combined with endBlock',
  ],
]

test.for(WRONG)('rejects a job with the location of the error when %s', expectRefusal)

test('reports only the kind if it is misspelt', async () => {
  const { message } = await refusalOf(BLOCKS.replace('blocks', 'block'))
  expect(message.split('\n')).toHaveLength(1)
})
