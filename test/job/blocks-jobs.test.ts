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
  {
    when: 'the kind is misspelt',
    text: BLOCKS.replace('blocks', 'block'),
    says: 'job.yaml:1:7: kind: found "block", expected one of wallets, blocks (did you mean "blocks"?)',
  },
  {
    when: 'the first block is missing',
    text: BLOCKS.replace('startBlock: 5\n', ''),
    says: 'startBlock: found nothing, expected the first block (the kind is blocks)',
  },
  {
    when: 'the end is missing',
    text: BLOCKS.replace('endBlock: 9\n', ''),
    says: 'endBlock: found nothing, expected the block to stop before (the kind is blocks)',
  },
  {
    when: 'blocks have addresses',
    text: `${BLOCKS}addresses: ['${A}']`,
    says: 'job.yaml:5:12: addresses: found a list of 1, expected no wallets, because whole blocks are exported',
  },
  {
    when: 'blocks have a file of addresses',
    text: `${BLOCKS}addressesFile: no-such-file.csv`,
    says: 'job.yaml:5:16: addressesFile: found "no-such-file.csv", expected no wallets',
  },
  {
    when: 'blocks have tables of wallets',
    text: `${BLOCKS}tables: [transactions, ledger, erc20_transfers]`,
    says: 'job.yaml:5:9: tables: found erc20_transfers, ledger, expected only transactions',
  },
  {
    when: '--tables names another for blocks',
    text: BLOCKS,
    overrides: { tables: ['ledger'] },
    says: '--tables: found ledger, expected only transactions, because a block listing contains nothing else',
  },
  {
    when: 'blocks have a finality',
    text: `${BLOCKS}finality: 10m`,
    says: 'finality: found "10m", expected no finality: it cannot be combined with endBlock',
  },
]

test.for(WRONG)('rejects a job with the location of the error when $when', expectRefusal)

test('reports only the kind if it is misspelt', async () => {
  const { message } = await refusalOf(BLOCKS.replace('blocks', 'block'))
  expect(message.split('\n')).toHaveLength(1)
})
