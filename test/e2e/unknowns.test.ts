import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { compactOutput } from '../../src/files/compact.ts'
import { type Balance, balances } from '../../src/index.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import { runCommand } from '../helpers/command.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { exportListed, listedJob, startListing } from '../helpers/listed-items.ts'
import type { ListedItem } from '../helpers/listing-page.ts'
import { readManifest } from '../helpers/read-output.ts'
import { testSample } from '../helpers/test-sample.ts'
import { ALICE, BOB, internal, item, party } from '../transform/items.ts'

const hashOf = (block: number) => `0x${String(block).padStart(64, '0')}`
const FEE = { gasUsed: '21000', gasPrice: '25' }

/** A transaction from ALICE to BOB in a separate block. */
const at = (block: number, fields: object = {}, lists: object = {}): ListedItem => {
  const place = { blockNumber: block, blockHash: hashOf(block), txHash: hashOf(block) }
  return item(
    { ...place, blockTimestamp: 1_700_000_000 + block, value: '5', ...FEE, ...fields },
    { ...lists },
  )
}

const fromBob = { from: party(BOB), to: party(ALICE) }

/** Two transactions without a status; three of ALICE and one of BOB without a fee. */
const ITEMS = [
  at(1),
  at(2, { txStatus: '' }),
  at(3, { txStatus: 'pending', ...fromBob }),
  at(4, { gasPrice: undefined }),
  at(5, { gasUsed: '0', txStatus: '0' }),
  at(6, { gasPrice: '0' }),
  at(7, { gasPrice: null, ...fromBob }),
  at(8, { txStatus: '0x0' }),
]

const countsIn = ({ statusUnknown, feeUnknown }: { statusUnknown?: number; feeUnknown?: number }) => [
  statusUnknown,
  feeUnknown,
]

type Counted = { what: string; given: Partial<Job>; addresses: string[]; counts: number[] }
const COUNTED: Counted[] = [
  { what: 'both', given: {}, addresses: [ALICE, BOB], counts: [2, 4] },
  { what: 'the receiver', given: {}, addresses: [BOB], counts: [2, 1] },
  { what: 'the sender', given: {}, addresses: [ALICE], counts: [2, 3] },
  {
    what: 'both, in Parquet',
    given: { format: 'parquet', compression: 'zstd' },
    addresses: [ALICE, BOB],
    counts: [2, 4],
  },
  {
    what: 'both, with only the ledger',
    given: { tables: ['ledger'] },
    addresses: [ALICE, BOB],
    counts: [2, 4],
  },
]
testSample(
  2,
  COUNTED,
  'counts unknown statuses and fees in an export of $what',
  async ({ given, addresses, counts }) => {
    const { url } = await startListing(ITEMS)
    const { code, manifest, stats, verdict } = await exportListed(listedJob(url, { ...given, addresses }))
    expect([code, verdict.problems]).toEqual([undefined, []])
    for (const of of [manifest, stats ?? {}, verdict]) expect(countsIn(of)).toEqual(counts)
  },
)

test('counts unknown statuses in block exports, which have no wallets', async () => {
  const { url } = await startListing(ITEMS)
  const blocks = { kind: 'blocks', tables: ['transactions'], startBlock: 1, endBlock: 9 } as const
  const { verdict, manifest } = await exportListed(listedJob(url, { ...blocks, addresses: [] }))
  expect([verdict.problems, countsIn(manifest)]).toEqual([[], [2, 0]])
})

test('counts a transaction with an internal transaction of unknown outcome', async () => {
  const lists = { internalTransactions: [internal({ isReverted: 'perhaps' }), internal({ value: '11' })] }
  const { url } = await startListing([
    at(1, {}, lists),
    at(2, {}, { internalTransactions: [internal({ isReverted: null })] }),
  ])
  const { verdict, manifest } = await exportListed(listedJob(url, { addresses: [ALICE] }))
  expect([verdict.problems, countsIn(manifest)]).toEqual([[], [1, 0]])
})

test('counts the whole export after later runs, added and removed wallets, a lost checkpoint and a merge', {
  tags: ['long'],
}, async () => {
  const listing = await startListing(ITEMS.slice(0, 4))
  const both = listedJob(listing.url, { addresses: [ALICE, BOB] })
  const only = { ...both, wallets: both.wallets.slice(0, 1) }
  const runAnd = async (job: Job) => {
    const { verdict, manifest } = await exportListed(job, { lookbackBlocks: 0 })
    expect(verdict.problems).toEqual([])
    return countsIn(manifest)
  }
  expect(await runAnd(only)).toEqual([2, 1])
  listing.items = ITEMS.slice(0, 6)
  expect(await runAnd(only)).toEqual([2, 3])
  listing.items = ITEMS.slice(0, 7)
  expect(await runAnd(both)).toEqual([2, 4])
  listing.items = [...ITEMS, at(9, { gasUsed: '', ...fromBob }), at(10, { gasUsed: '' })]
  expect(await runAnd(only)).toEqual([2, 5])
  rmSync(join(both.output, '.walletlake'), { recursive: true })
  listing.items = [...listing.items, at(11, { txStatus: null, gasUsed: null })]
  expect(await runAnd(only)).toEqual([3, 6])
  await compactOutput(both.output)
  await expectValid(both.output)
  expect(countsIn(readManifest(both.output))).toEqual([3, 6])
  const anew = listedJob(listing.url, { addresses: [ALICE] })
  expect(await runAnd(anew)).toEqual([3, 5])
})

testSample(
  1,
  ['statusUnknown', 'feeUnknown'] as const,
  'verify finds a wrong %s in the manifest',
  async (name) => {
    const { url } = await startListing(ITEMS)
    const job = listedJob(url, { addresses: [ALICE, BOB] })
    await exportListed(job)
    const manifest = readManifest(job.output)
    writeFileSync(join(job.output, 'manifest.json'), JSON.stringify({ ...manifest, [name]: 1 }))
    const { problems } = await verifyOutput(job.output)
    expect(problems).toEqual([
      expect.stringMatching(new RegExp(`^manifest.json: ${name}: expected \\d, found 1$`)),
    ])
  },
)

test('accepts an export of an older version without counts, and does not add them', {
  tags: ['long'],
}, async () => {
  const listing = await startListing(ITEMS.slice(0, 4))
  const job = listedJob(listing.url, { addresses: [ALICE] })
  await exportListed(job)
  const { statusUnknown: _status, feeUnknown: _fee, ...older } = readManifest(job.output)
  writeFileSync(join(job.output, 'manifest.json'), JSON.stringify(older))
  rmSync(join(job.output, '.walletlake'), { recursive: true })
  listing.items = ITEMS
  const { verdict, manifest } = await exportListed(job, { lookbackBlocks: 0 })
  expect([verdict.problems, countsIn(manifest)]).toEqual([[], [undefined, undefined]])
})

const STATUS = '2 transactions with unknown status, counted as successful'
const OWN =
  '3 own transactions with unknown fee: gas or price absent or 0, or a part for L1 or blobs not stated'
const REJECTS = '1 record rejected, listed in rejects.ndjson with the reason'

test('every command that reads an export reports what is unknown and what was rejected', async () => {
  const { url } = await startListing([...ITEMS, at(9, { value: 'x' })])
  const { output } = listedJob(url, { addresses: [ALICE] })
  const command = (...args: string[]) => runCommand(args)
  const ran = await command(
    'run',
    '--chain',
    '43114',
    '--address',
    ALICE,
    '--base-url',
    url,
    '--output',
    output,
  )
  expect([ran.exit, ran.stdout]).toEqual([6, expect.stringContaining(STATUS)])
  expect(ran.stdout).toContain(OWN)
  const [report = ''] = readdirSync(join(output, 'runs'))
  const runReport = JSON.parse(readFileSync(join(output, 'runs', report), 'utf8'))
  expect(runReport).toMatchObject({ statusUnknown: 2, feeUnknown: 3, rejects: 1 })

  const status = await command('status', output)
  for (const line of [STATUS, OWN, '1 record rejected']) expect(status.stdout).toContain(line)
  const asJson = await command('status', output, '--json')
  expect(JSON.parse(asJson.stdout).outputs[0]).toMatchObject({ statusUnknown: 2, feeUnknown: 3, rejects: 1 })

  const verified = await command('verify', output)
  expect([verified.exit, verified.stdout]).toEqual([
    0,
    expect.stringContaining('OK, without 1 rejected record ('),
  ])
  for (const line of [STATUS, OWN, REJECTS]) expect(verified.stdout).toContain(line)
  const verdict = await command('verify', output, '--json')
  expect(JSON.parse(verdict.stdout)).toMatchObject({ ok: true, statusUnknown: 2, feeUnknown: 3, rejects: 1 })

  const summed = await command('balances', output, '--format', 'csv')
  for (const line of [STATUS, OWN, REJECTS]) expect(summed.stderr).toContain(line)
  const result = await command('query', output, 'select 1 as one', '--format', 'csv')
  expect([result.exit, result.stdout]).toEqual([0, 'one\n1\n'])
  expect(result.stderr).toContain(REJECTS)

  const converted = await command('convert', output, '--to', 'generic')
  for (const line of [STATUS, OWN, REJECTS]) expect(converted.stderr).toContain(line)
  expect(converted.exit).toBe(0)
  expect((await command('convert', output, '--to', 'generic', '--strict')).exit).toBe(6)

  expect((await command('report', output)).exit).toBe(0)
  const page = readFileSync(join(output, 'report.html'), 'utf8')
  for (const line of [STATUS, OWN]) expect(page).toContain(line)
})

test('no command reports anything if everything is known', { tags: ['long'] }, async () => {
  const { url } = await startListing([at(1), at(2)])
  const job = listedJob(url, { addresses: [ALICE] })
  await exportListed(job)
  for (const args of [
    ['verify', job.output],
    ['query', job.output, 'select 1'],
    ['convert', job.output, '--to', 'generic', '--strict'],
  ]) {
    const { exit, stdout, stderr } = await runCommand(args)
    expect([exit, `${stdout}${stderr}`]).toEqual([
      0,
      expect.not.stringMatching(/unknown status|unknown fee|reject/),
    ])
  }
})

test('a transaction with an unknown status moves its value, a failed one does not', async () => {
  const { url } = await startListing([
    at(1, { ...fromBob, value: '1000000' }),
    ...['', null, '0x0', 'FAILED', false, 0].map((txStatus, index) =>
      at(2 + index, { txStatus, value: '1000', gasPrice: '1', gasUsed: '1' }),
    ),
  ])
  const job = listedJob(url, { addresses: [ALICE] })
  await exportListed(job)
  const { balances: found } = await balances(job.output)
  expect(found.map(({ value }: Balance) => value)).toEqual([1_000_000n - 2n * 1_000n - 6n])
})
