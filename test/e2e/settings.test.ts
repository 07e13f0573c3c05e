import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Manifest } from '../../src/core/model/manifest.ts'
import type { Job } from '../../src/core/model/model.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import {
  bucketLocations,
  expectSameAsFresh,
  growingChain,
  headJob,
  runOnce,
} from '../helpers/growing-chain.ts'
import { readManifest } from '../helpers/read-output.ts'
import { testSample } from '../helpers/test-sample.ts'

const forget = ({ output }: Job) => rmSync(join(output, '.walletlake'), { recursive: true })

/** Runs the job once and returns the notices. */
async function night(job: Job) {
  const notices: string[] = []
  await runOnce(job, { onNotice: (notice) => notices.push(notice) })
  return notices.join('\n')
}

const labelled = (label: string) => (job: Job) => ({
  wallets: job.wallets.map((one, at) => (at === 0 ? { ...one, label } : one)),
})

testSample(
  1,
  [
    { what: 'labels', given: labelled('savings') },
    { what: 'nativeSymbol', given: () => ({ nativeSymbol: 'COIN' }) },
    { what: 'escapeFormulas', given: () => ({ escapeFormulas: false }) },
  ],
  'detects a change of $what without a checkpoint',
  async ({ what, given }) => {
    const chain = await growingChain(100)
    const job = headJob(chain.url, { count: 3 })
    await runOnce(job)
    forget(job)
    await chain.advance(40)
    const changed = { ...job, ...given(job) }
    expect(await night(changed)).toContain(`test: ${what} changed, so all rows are written again`)
    await expectSameAsFresh(changed)
  },
)

test('the manifest records the settings of its rows', { tags: ['long'] }, async () => {
  const chain = await growingChain(60)
  const job = headJob(chain.url, { count: 2, nativeSymbol: '+COIN' })
  await runOnce({ ...job, ...labelled('=hot')(job) })
  const { job: made, coverage } = readManifest(job.output)
  expect(made).toMatchObject({ nativeSymbol: '+COIN', escapeFormulas: true })
  expect(coverage.map(({ label }) => label)).toEqual(['=hot', null])
  await expectValid(job.output)
  const parquet = headJob(chain.url, { count: 2, format: 'parquet', compression: 'zstd' })
  await runOnce({ ...parquet, ...labelled('=hot')(parquet) })
  expect(readManifest(parquet.output).job).not.toHaveProperty('escapeFormulas')
  await expectValid(parquet.output)
})

test('a removed wallet keeps its label when rows are rewritten', async () => {
  const chain = await growingChain(100)
  const job = headJob(chain.url, { count: 3 })
  const hot = { ...job, ...labelled('hot')(job) }
  await runOnce(hot)
  const without = { ...job, wallets: job.wallets.slice(1) }
  await chain.advance(20)
  await runOnce(without)
  await runOnce({ ...without, nativeSymbol: 'COIN' })
  const [first] = readManifest(job.output).coverage
  expect(first).toMatchObject({ address: job.wallets[0]?.address, label: 'hot', removed: true })
  await expectValid(job.output)
})

test('does not rewrite rows if an older manifest does not record their settings', async ({ skip }) => {
  skip(bucketLocations.next !== undefined, 'the manifest of a folder is changed')
  const chain = await growingChain(100)
  const job = headJob(chain.url, { count: 3 })
  await runOnce(job)
  const path = join(job.output, 'manifest.json')
  const { job: made, coverage, ...rest } = JSON.parse(readFileSync(path, 'utf8')) as Manifest
  const { nativeSymbol: _symbol, escapeFormulas: _escape, ...of } = made
  writeFileSync(
    path,
    JSON.stringify({ job: of, coverage: coverage.map(({ label: _, ...one }) => one), ...rest }),
  )
  const files = readManifest(job.output).tables.ledger?.files
  await chain.advance(20)
  expect(await night({ ...job, ...labelled('savings')(job) })).not.toContain('changed')
  expect(readManifest(job.output).tables.ledger?.files.slice(0, 1)).toEqual(files)
})
