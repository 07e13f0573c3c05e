import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { summarizeRun } from '../../src/export/history/run-report.ts'
import { type RunOptions, run } from '../../src/export/run.ts'
import { summaryText } from '../../src/terminal/summary.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { expectSameAsFresh, headJob, runOnce } from '../helpers/growing-chain.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readCsvTable } from '../helpers/read-output.ts'
import {
  addressOf,
  hashOf,
  payment,
  type SyntheticItem,
  startSyntheticChain,
  syntheticErc20,
  syntheticErc721,
  syntheticInternal,
  syntheticItem,
} from '../helpers/synthetic-chain.ts'
import { testSample } from '../helpers/test-sample.ts'

const [ALICE, BOB] = [addressOf('one'), addressOf('two')].sort() as [string, string]

/** Later transactions of both wallets, so that the earlier blocks are outside the lookback. */
const later = Array.from({ length: 5 }, (_, at) => payment(100 + 100 * at, ALICE, BOB))

type Job1 = { url: string; addresses: readonly string[]; output?: string; concurrency?: number }
const jobOf = ({ url, ...given }: Job1): Job => headJob(url, given)

/** Exports one wallet, changes a transaction in the service's responses, and exports both wallets. */
async function secondNight(
  before: SyntheticItem,
  after: SyntheticItem,
  options: RunOptions = {},
  first = ALICE,
) {
  const chain = await startSyntheticChain([before, ...later])
  const job = jobOf({ url: chain.url, addresses: [first] })
  await runOnce(job)
  chain.listing.items = () => [after, ...later]
  chain.received.splice(0)
  const both = jobOf({ url: chain.url, addresses: [ALICE, BOB], output: job.output })
  const result = await run([both], options)
  return { chain, job: both, result, stats: result.jobs[0]?.stats }
}

const internal = (changes: object = {}) => ({
  internalTransactions: [syntheticInternal(BOB, ALICE, { ...changes })],
})
const erc20 = (changes: object = {}) => ({ erc20Transfers: [syntheticErc20(3, BOB, ALICE, { ...changes })] })

const CHANGES: { what: string; before: SyntheticItem; after: SyntheticItem }[] = [
  {
    what: 'the value of an internal call',
    before: syntheticItem(1, {}, internal()),
    after: syntheticItem(1, {}, internal({ value: '2000' })),
  },
  {
    what: 'the classification of a contract',
    before: syntheticItem(1, {}, erc20()),
    after: syntheticItem(1, {}, { erc721Transfers: [syntheticErc721(3, BOB, ALICE)] }),
  },
  {
    what: 'the block of the transaction',
    before: syntheticItem(1, {}, internal()),
    after: syntheticItem(1, { block: 1004 }, internal()),
  },
  {
    what: 'gas figures of an internal call',
    before: syntheticItem(1, {}, internal()),
    after: syntheticItem(1, {}, internal({ gasUsed: '21' })),
  },
  {
    what: 'the type of an internal call',
    before: syntheticItem(1, {}, internal()),
    after: syntheticItem(1, {}, internal({ internalTxType: 'UNKNOWN' })),
  },
  {
    what: 'the reverted flag of an internal call',
    before: syntheticItem(1, {}, internal()),
    after: syntheticItem(1, {}, internal({ isReverted: true })),
  },
  {
    what: 'the existence of an internal call',
    before: syntheticItem(
      1,
      { to: { address: BOB } },
      { internalTransactions: [syntheticInternal(BOB, ALICE), syntheticInternal(BOB, ALICE)] },
    ),
    after: syntheticItem(1, { to: { address: BOB } }, internal()),
  },
  {
    what: 'the value of a log',
    before: syntheticItem(1, {}, erc20()),
    after: syntheticItem(1, {}, erc20({ value: '7' })),
  },
  {
    what: 'the status of the transaction',
    before: syntheticItem(1, {}, internal()),
    after: syntheticItem(1, { txStatus: '0' }, internal()),
  },
  {
    what: 'the gas of the transaction',
    before: syntheticItem(1, {}, internal()),
    after: syntheticItem(1, { gasUsed: '50000' }, internal()),
  },
  {
    what: 'an earlier block of the transaction',
    before: syntheticItem(1, {}, internal()),
    after: syntheticItem(1, { block: 900 }, internal()),
  },
]

testSample(
  2,
  CHANGES.map((change, at) => ({ ...change, first: at % 2 === 0 ? ALICE : BOB })),
  'a wallet added after the service changed $what gives the same files as a fresh export',
  async ({ before, after, first }) => {
    const { chain, job, stats } = await secondNight(before, after, {}, first)
    expect(stats?.contradicted).toEqual({ found: 1, unresolved: 0 })
    const again = chain.received.filter(({ wallet, from, to }) => wallet === first && to - from <= 1)
    expect(again.length).toBeGreaterThan(0)
    await expectSameAsFresh(job)
  },
)

test('reports a contradiction in the notices, the summary and the run report', async () => {
  const notices: string[] = []
  const before = syntheticItem(1, {}, internal())
  const after = syntheticItem(1, {}, internal({ gasUsed: '21' }))
  const { job, result } = await secondNight(before, after, { onNotice: (notice) => notices.push(notice) })
  expect(notices).toContain(
    `${job.name}: 1 transaction differs between wallets and will be read again for 2 of them`,
  )
  const summary = summaryText(result.jobs, { now: Date.now(), programName: 'walletlake' })
  expect(summary).toContain('  1 transaction differed between wallets: read again, and now agree')
  expect(summarizeRun(result).jobs).toMatchObject([
    { contradictedTransactions: 1, unresolvedTransactions: 0 },
  ])
})

test('a run interrupted while it reads a contradicted transaction again ends with the same files', {
  tags: ['long'],
}, async () => {
  const [before, after] = [
    syntheticItem(1, {}, internal()),
    syntheticItem(1, {}, internal({ gasUsed: '21' })),
  ]
  const calm = await secondNight(before, after)
  const requests = calm.chain.received.length
  for (let most = 1; most < requests; most += 1) {
    const cut = await secondNight(before, after, { maxRequests: most })
    expect(cut.result.code).toBe('BUDGET_REACHED')
    await runOnce(cut.job)
    expect(outputBytes(cut.job.output)).toEqual(outputBytes(calm.job.output))
  }
})

/** Starts a service that always returns different gas values for each wallet. */
async function startTwoFaced(blocks: readonly number[]) {
  const shownTo = (gasUsed: string) =>
    blocks.map((block, at) => syntheticItem(at, { block }, internal({ gasUsed })))
  const [toAlice, toBob] = [shownTo('1'), shownTo('2')]
  const chain = await startSyntheticChain([])
  chain.listing.items = (wallet) => (wallet === ALICE ? toAlice : toBob)
  return chain
}

test('reads persistent contradictions again once, and then uses the listing of the lowest address', async () => {
  const chain = await startTwoFaced([1000, 1001, 1002])
  const notices: string[] = []
  const exports = []
  for (const concurrency of [1, 16]) {
    const job = jobOf({ url: chain.url, addresses: [ALICE, BOB], concurrency })
    const { code, jobs } = await run([job], { onNotice: (notice) => notices.push(notice) })
    expect(code).toBeUndefined()
    expect(jobs[0]?.stats.contradicted).toEqual({ found: 3, unresolved: 3 })
    await expectValid(job.output)
    exports.push(outputBytes(job.output))
    const rows = await readCsvTable(job.output, 'internal_transactions')
    expect(rows.map(({ gas_used }) => gas_used)).toEqual(['1', '1', '1'])
  }
  expect(exports[0]).toEqual(exports[1])
  expect(notices).toContainEqual(
    expect.stringContaining('3 transactions differ between wallets even when read again'),
  )
  // One request per wallet for its history, and one for the three adjacent blocks.
  expect(chain.received.length).toBe(2 * 2 * 2)
})

test('exports a log once that is listed as two kinds of token, and counts it in the summary', async () => {
  const item = syntheticItem(1, {}, { ...erc20(), erc721Transfers: [syntheticErc721(3, BOB, ALICE)] })
  const chain = await startSyntheticChain([item])
  const job = jobOf({ url: chain.url, addresses: [ALICE] })
  const result = await run([job])
  expect(summaryText(result.jobs, { now: Date.now(), programName: 'walletlake' })).toContain(
    '  1 log listed as two kinds of token: exported as one',
  )
  expect(summarizeRun(result).jobs).toMatchObject([{ repeatedLogs: 1, contradictedTransactions: 0 }])
  const ledger = await readCsvTable(job.output, 'ledger')
  expect(ledger.map(({ asset_type, transaction_hash }) => [asset_type, transaction_hash])).toEqual([
    ['erc721', hashOf(1)],
  ])
  await expectValid(job.output)
})
