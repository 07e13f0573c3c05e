import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Job } from '../../../src/core/model/model.ts'
import { run } from '../../../src/export/run.ts'
import { baselineBytes, blocksRun } from '../../helpers/blocks-run.ts'
import { runCommand } from '../../helpers/command.ts'
import { expectValid } from '../../helpers/expect-valid.ts'
import { faultyDiskEnv } from '../../helpers/faulty-disk.ts'
import { addresses, baselineRun, faultyRun, service } from '../../helpers/faulty-run.ts'
import { forked, growingChain, headJob, runOnce, unchanged } from '../../helpers/growing-chain.ts'
import { startLoopback } from '../../helpers/loopback.ts'
import { outputBytes } from '../../helpers/output-bytes.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'
import { testSample } from '../../helpers/test-sample.ts'
import { corruptPages } from '../corrupt-pages.ts'

const logOf = (output: string) => join(output, '.walletlake', 'pages.log')

/** Creates an output with the checkpoint of a run that stopped after a number of requests, and copies of it. */
async function stoppedRun(maxRequests: number) {
  const { code, output } = await faultyRun(undefined, { options: { maxRequests } })
  expect(code).toBe('BUDGET_REACHED')
  return () => {
    const copy = tempFolder()
    cpSync(output, copy, { recursive: true })
    return copy
  }
}

async function goOn(output: string, maxRequests?: number) {
  const notices: string[] = []
  const onNotice = (notice: string) => notices.push(notice)
  const result = await faultyRun(undefined, {
    output,
    options: { onNotice, ...(maxRequests !== undefined && { maxRequests }) },
  })
  return { ...result, notices: notices.join('\n') }
}

test('requests only the ranges of damaged pages again', async () => {
  const calm = await baselineRun()
  const copy = await stoppedRun(6)
  const whole = await goOn(copy())
  for (const picks of [(page: number) => page === 0, (page: number) => page === 1 || page === 3]) {
    const output = copy()
    const spoilt = corruptPages(logOf(output), picks)
    const { code, requests, notices } = await goOn(output)
    const what = spoilt === 1 ? '1 unreadable page' : `${spoilt} unreadable pages`
    expect(notices).toContain(`the checkpoint contained ${what}; the blocks are requested again`)
    expect([code, outputBytes(output)]).toEqual([undefined, calm.bytes])
    // The end of a page's range may share its second with the next page.
    expect(requests.length - whole.requests.length).toBeLessThanOrEqual(2 * spoilt)
    await expectValid(output)
  }
})

test('resumes a run that ended while it recovered from damaged pages', async () => {
  const calm = await baselineRun()
  const output = (await stoppedRun(6))()
  expect(corruptPages(logOf(output), (page) => page < 3)).toBe(3)
  for (let starts = 0; starts < 3; starts += 1) expect((await goOn(output, 1)).code).toBe('BUDGET_REACHED')
  corruptPages(logOf(output), (page) => page === 4)
  expect([(await goOn(output)).code, outputBytes(output)]).toEqual([undefined, calm.bytes])
})

test('requests damaged pages of block jobs again', { tags: ['long'] }, async () => {
  const { code, output } = await blocksRun(undefined, { options: { maxRequests: 60 } })
  expect(code).toBe('BUDGET_REACHED')
  expect(corruptPages(logOf(output), (page) => page === 3 || page === 40)).toBe(2)
  expect((await blocksRun(undefined, { job: { output } })).code).toBeUndefined()
  expect(outputBytes(output)).toEqual(await baselineBytes())
})

testSample(
  1,
  [{ places: [9] }, { places: [6, 14] }],
  'resumes a run that was killed while it recovered from damaged pages: at $places',
  async ({ places }) => {
    const { url } = await startLoopback(service)
    const job = join(tempFolder(), 'job.yaml')
    const list = addresses.map((address) => `  - "${address}"`).join('\n')
    writeFileSync(job, `chain: 43114\nendBlock: 421\naddresses:\n${list}\n`)
    const runInto = (output: string, env: NodeJS.ProcessEnv = {}, ...more: string[]) =>
      runCommand(['run', job, '--output', output, '--base-url', url, ...more], env)
    const calm = tempFolder()
    expect((await runInto(calm)).exit).toBe(0)
    const stopped = tempFolder()
    expect((await runInto(stopped, {}, '--max-requests', '6')).exit).toBe(9)
    corruptPages(logOf(stopped), (page) => page % 2 === 0)
    for (const at of places) {
      const output = tempFolder()
      cpSync(stopped, output, { recursive: true })
      expect((await runInto(output, faultyDiskEnv({ how: 'kill', at }))).exit).toBe(null)
      expect((await runInto(output)).exit).toBe(0)
      expect(outputBytes(output)).toEqual(outputBytes(calm))
      await expectValid(output)
    }
  },
)

/**
 * Runs a job three times; the last run has one wallet less, a reorg and, optionally, damaged pages of the first two.
 */
async function threeNights(given: Partial<Omit<Job, 'wallets'>>, isDamaged: boolean) {
  const chain = await growingChain(200)
  const whole = headJob(chain.url, given)
  await runOnce(whole)
  await chain.advance(60)
  await runOnce(whole)
  const job = { ...whole, wallets: whole.wallets.slice(1) }
  if (isDamaged) expect(corruptPages(logOf(job.output), () => true)).toBeGreaterThan(5)
  await chain.advance(60)
  chain.listing.view = forked(190, 245)
  await runOnce(job, { lookbackBlocks: 120 })
  chain.listing.view = unchanged
  return job
}

const changesOf = (output: string) =>
  existsSync(join(output, 'changes'))
    ? readdirSync(join(output, 'changes')).map((name) => readFileSync(join(output, 'changes', name), 'utf8'))
    : []

/** The files with rows. The manifest may state more coverage where pages were read again later. */
const filesOf = (output: string) =>
  Object.fromEntries(
    Object.entries(outputBytes(output)).filter(
      ([path]) => path !== 'manifest.json' && !path.startsWith('changes/'),
    ),
  )

testSample(
  0,
  ['csv', 'parquet'] as const,
  'an incremental run over damaged pages keeps removed wallets and lists the same changes (%s)',
  async (format) => {
    const undamaged = await threeNights({ format }, false)
    const damaged = await threeNights({ format }, true)
    expect(filesOf(damaged.output)).toEqual(filesOf(undamaged.output))
    expect(changesOf(undamaged.output).join('')).toContain('"removed"')
    expect(changesOf(damaged.output)).toEqual(changesOf(undamaged.output))
    await expectValid(damaged.output)
    const again = await run([damaged], {})
    expect(again.code).toBeUndefined()
  },
)
