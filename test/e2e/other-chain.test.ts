import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { rows } from '../../src/export/rows.ts'
import { run } from '../../src/export/run.ts'
import { exportListed, listedJob, startListing } from '../helpers/listed-items.ts'
import type { ListedItem } from '../helpers/listing-page.ts'
import { readCsvTable } from '../helpers/read-output.ts'
import { testSample } from '../helpers/test-sample.ts'
import { ALICE, BOB, erc20, item, party } from '../transform/items.ts'

const hashOf = (block: number) => `0x${String(block).padStart(64, '0')}`

/** A transaction from ALICE to BOB in a separate block. */
const at = (block: number, fields: object = {}): ListedItem => {
  const place = { blockNumber: block, blockHash: hashOf(block), txHash: hashOf(block) }
  return item({ ...place, blockTimestamp: 1_700_000_000 + block, value: '5', ...fields })
}

const rejectsOf = (output: string) =>
  readFileSync(join(output, 'rejects.ndjson'), 'utf8')
    .trimEnd()
    .split('\n')
    .map(
      (line) => JSON.parse(line) as { reason: string; record: { nativeTransaction: { chainId: unknown } } },
    )

const jobs: readonly { kind: string; given: Parameters<typeof listedJob>[1] }[] = [
  { kind: 'of a wallet', given: { addresses: [ALICE] } },
  { kind: 'of several wallets', given: { addresses: [ALICE, BOB] } },
  {
    kind: 'of whole blocks',
    given: { addresses: [], kind: 'blocks', tables: ['transactions'], startBlock: 100, endBlock: 110 },
  },
]

testSample(
  1,
  jobs,
  'rejects items of another chain in a job $kind, and the export passes verification',
  async ({ given }) => {
    const { url } = await startListing([at(101), at(102, { chainId: '1' }), at(103, { chainId: 5 }), at(104)])
    const job = listedJob(url, given)
    const { code, manifest, verdict } = await exportListed(job)
    expect(code).toBe('RECORDS_REJECTED')
    expect(verdict.problems).toEqual([])
    const written = await readCsvTable(job.output, 'transactions')
    expect(written.map(({ block_number, chain_id }) => [block_number, chain_id])).toEqual([
      ['101', '43114'],
      ['104', '43114'],
    ])
    const reasons = rejectsOf(job.output).map(({ reason }) => reason)
    expect(new Set(reasons)).toEqual(new Set(['chainId is not 43114: "1"', 'chainId is not 43114: 5']))
    expect(manifest.rejects).toBe(reasons.length)
  },
)

test('an item of another chain does not change the end block of an open range', async () => {
  const { url } = await startListing([at(101), at(900_000, { chainId: '1' })])
  const { manifest } = await exportListed(listedJob(url, { addresses: [ALICE] }))
  expect(manifest.coverage[0]?.toBlock).toBe(102)
})

test('still reports rejected items of another chain after later runs', { tags: ['long'] }, async () => {
  const listing = await startListing([at(101), at(102, { chainId: '1' })])
  const job = listedJob(listing.url, { addresses: [ALICE] })
  await exportListed(job)
  listing.items = [...listing.items, at(500), at(501, { chainId: '5' })]
  const { code, verdict, manifest } = await exportListed(job)
  expect([code, verdict.problems, manifest.rejects]).toEqual(['RECORDS_REJECTED', [], 2])
})

test('accepts other spellings of the chain id, and a missing one', { tags: ['long'] }, async () => {
  const chains = ['43114', 43114, '0xa86a', undefined, null, '']
  const { url } = await startListing(chains.map((chainId, index) => at(101 + index, { chainId })))
  for (const chain of ['43114', '0xa86a', '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5']) {
    const job = listedJob(url, { addresses: [ALICE], chain })
    const { code, verdict } = await exportListed(job)
    expect([code, verdict.problems]).toEqual([undefined, []])
    const ledger = await readCsvTable(job.output, 'ledger')
    expect(ledger.map(({ chain_id }) => chain_id)).toEqual(chains.map(() => '43114'))
  }
})

const UNKNOWN_CHAIN = '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q6'
const unknownChainJobs = jobs.map(({ kind, given }) => ({ kind, given: { ...given, chain: UNKNOWN_CHAIN } }))

testSample(
  1,
  unknownChainJobs,
  'a job $kind with an unknown blockchain id accepts one EVM chain id from items, and no second one',
  async ({ given }) => {
    const listing = await startListing([at(101), at(102)])
    const first = await exportListed(listedJob(listing.url, given))
    expect([first.code, first.verdict.problems]).toEqual([undefined, []])
    for (const other of [at(100, { chainId: '1' }), at(108, { chainId: '1' })]) {
      listing.items = [other, at(101), at(102)].sort(
        (a, b) => Number(a.nativeTransaction.blockNumber) - Number(b.nativeTransaction.blockNumber),
      )
      const { code, jobs: results } = await run([listedJob(listing.url, given)])
      expect(code).toBe('PAGE_MALFORMED')
      expect(results[0]?.error?.message).toContain('transactions of several chains: "1", "43114"')
      expect(results[0]?.error?.fix).toContain('EVM chain id')
    }
  },
)

for (const { what, prepare } of [
  { what: 'a later run', prepare: () => {} },
  {
    what: 'a later run without a checkpoint',
    prepare: ({ output }: Job) => rmSync(join(output, '.walletlake'), { recursive: true, force: true }),
  },
])
  test(`does not change an export with an unknown blockchain id if ${what} finds another chain`, {
    tags: ['long'],
  }, async () => {
    const listing = await startListing([at(101), at(102)])
    const job = listedJob(listing.url, { addresses: [ALICE, BOB], chain: UNKNOWN_CHAIN })
    await exportListed(job)
    prepare(job)
    listing.items = [...listing.items, at(500, { chainId: '1' })]
    for (const { code, verdict } of [await exportListed(job), await exportListed(job)])
      expect([code, verdict.problems]).toEqual(['PAGE_MALFORMED', []])
    listing.items = [at(101), at(102), at(600)]
    expect((await exportListed(job, { fresh: true })).verdict.problems).toEqual([])
  })

test('rows() fails before the first row of a second chain', async () => {
  const { url } = await startListing([at(101), at(102, { chainId: '1' })])
  const job = listedJob(url, { addresses: [ALICE], chain: UNKNOWN_CHAIN })
  const given: unknown[] = []
  const reading = (async () => {
    for await (const { chain_id } of rows(job, 'ledger')) given.push(chain_id)
  })()
  await expect(reading).rejects.toMatchObject({ code: 'PAGE_MALFORMED' })
  expect(given).toEqual(['43114'])
})

test('rejects an entry of another chain and keeps its transaction', async () => {
  const entry = erc20({ chainId: '1' })
  const { url } = await startListing([{ ...at(101), erc20Transfers: [entry, erc20({ logIndex: 9 })] }])
  const job = listedJob(url, { addresses: [ALICE] })
  const { code, verdict } = await exportListed(job)
  expect([code, verdict.problems]).toEqual(['RECORDS_REJECTED', []])
  expect(await readCsvTable(job.output, 'erc20_transfers')).toHaveLength(1)
})

test('exports a listed transaction that does not involve the wallet', async () => {
  const outsider = `0x${'5'.repeat(40)}`
  const listing = await startListing([at(101)])
  listing.items = [
    { ...at(101), internalTransactions: [{ from: party(outsider), to: party(BOB), value: '0' }] },
  ]
  const { code, verdict } = await exportListed(listedJob(listing.url, { addresses: [outsider] }))
  expect([code, verdict.problems]).toEqual([undefined, []])
})

test('counts the native coin once if Polygon also lists it as a token', async () => {
  const token = { address: '0x0000000000000000000000000000000000001010' }
  const { url } = await startListing([
    {
      ...at(101, { chainId: '137' }),
      erc20Transfers: [erc20({ value: '5' }, token), erc20({ logIndex: 9 })],
    },
  ])
  const job = listedJob(url, { addresses: [ALICE], chain: '137' })
  const { code, verdict } = await exportListed(job)
  expect([code, verdict.problems]).toEqual([undefined, []])
  expect(await readCsvTable(job.output, 'erc20_transfers')).toHaveLength(2)
  const ledger = await readCsvTable(job.output, 'ledger')
  expect(ledger.map(({ asset_type, value }) => [asset_type, value])).toEqual([
    ['native', '-5'],
    ['erc20', '-2500000'],
  ])
})
