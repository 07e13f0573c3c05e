import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { type RunOptions, run } from '../../src/export/run.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { expectSameAsFresh, headJob, runOnce } from '../helpers/growing-chain.ts'
import { addressOf, payment, type SyntheticItem, startSyntheticChain } from '../helpers/synthetic-chain.ts'
import { testSample } from '../helpers/test-sample.ts'

const ALICE = addressOf('one')
const ROUTER = addressOf('router')
/** More than ten minutes after the first blocks, which are therefore outside the lookback. */
const HEAD = 500
const moved = (block: number) => payment(999, ALICE, ROUTER, { block })
const history = (last: number): SyntheticItem[] =>
  Array.from({ length: 12 }, (_, at) => payment(at, ALICE, ROUTER, { block: 1 + 8 * at })).concat(moved(last))

type Loss = { isLost: boolean; options?: RunOptions }

/** Exports a chain, moves its last transaction to another block, and exports it again. */
async function movedOver(
  given: Partial<Job>,
  { from, to, isLost, options = {} }: Loss & { from: number; to: number },
) {
  const chain = await startSyntheticChain([...history(from), payment(1000, ALICE, ROUTER, { block: HEAD })])
  const job = headJob(chain.url, { addresses: [ALICE, ROUTER], ...given })
  await runOnce(job)
  if (isLost) rmSync(join(job.output, '.walletlake'), { recursive: true })
  chain.listing.items = () => [...history(to), payment(1000, ALICE, ROUTER, { block: HEAD })]
  const notices: string[] = []
  const result = await run([job], { ...options, onNotice: (notice) => notices.push(notice) })
  expect(result.code).toBeUndefined()
  await expectValid(job.output)
  return { chain, job, notices }
}

testSample(
  1,
  [{}, { lookbackBlocks: 5 }, { lookbackBlocks: 0 }],
  'without pages of earlier runs, exports a transaction once that moves across the end of the export: %j',
  async (options) => {
    const { job, notices } = await movedOver({}, { from: HEAD - 1, to: HEAD + 1, isLost: true, options })
    expect(notices.join('\n')).toContain('1 transaction was already exported in an earlier block')
    await expectSameAsFresh(job)
  },
)

testSample(
  1,
  [
    { format: 'parquet', compression: 'zstd' },
    { compression: 'gzip', partitionBy: 'blocks:10' },
    { tables: ['ledger'] },
    { tables: ['wallet_transactions', 'ledger'] },
  ] as const,
  'exports a transaction once that moves across the end, with %j',
  async (given) => {
    const { tables, ...fields } = { tables: undefined, ...given }
    const job = { ...fields, ...(tables && { tables: [...tables] }) }
    await movedOver(job, { from: HEAD - 1, to: HEAD + 1, isLost: true })
  },
)

test('exports a transaction once that moves away from a block outside the lookback', {
  tags: ['long'],
}, async () => {
  const { job, chain, notices } = await movedOver({}, { from: 41, to: HEAD + 1, isLost: false })
  expect(notices.join('\n')).toContain('blocks from 41 on are read again')
  expect(Math.min(...chain.received.slice(2).map(({ from }) => from))).toBe(41)
  await expectSameAsFresh(job)
})

test('compares runs after lost pages with the earlier export', async () => {
  const chain = await startSyntheticChain(history(HEAD))
  const job = headJob(chain.url, { addresses: [ALICE, ROUTER] })
  await runOnce(job)
  rmSync(join(job.output, '.walletlake'), { recursive: true })
  const grown = (last: number, head: number) => [
    ...history(last),
    payment(2000, ALICE, ROUTER, { block: head }),
  ]
  chain.listing.items = () => grown(HEAD, HEAD + 5)
  await runOnce(job)
  chain.listing.items = () => grown(HEAD + 50, HEAD + 5)
  await runOnce(job)
  await expectSameAsFresh(job)
})

test('a run interrupted while it reads earlier blocks ends with the same rows', {
  tags: ['long'],
}, async () => {
  for (const isLost of [true, false]) {
    const chain = await startSyntheticChain([...history(41), payment(1000, ALICE, ROUTER, { block: HEAD })])
    const job = headJob(chain.url, { addresses: [ALICE, ROUTER] })
    await runOnce(job)
    if (isLost) rmSync(join(job.output, '.walletlake'), { recursive: true })
    chain.listing.items = () => [...history(HEAD + 1), payment(1000, ALICE, ROUTER, { block: HEAD })]
    for (let most = 1; most < 5; most += 1) await run([job], { maxRequests: most })
    await runOnce(job)
    await expectSameAsFresh(job)
  }
})
