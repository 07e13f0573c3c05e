import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { run } from '../../src/export/run.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { runInSteps } from '../helpers/growing-chain.ts'
import type { Fault } from '../helpers/loopback.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readManifest } from '../helpers/read-output.ts'
import { testSample } from '../helpers/test-sample.ts'
import { jobOf, RECEIVER, RECEIVERS, refuseWith, rowsOf, startQuirky } from './internals-job.ts'

type CalmRun = { bytes: Record<string, unknown>; requests: number }
let calm: CalmRun | undefined

/** The export that nothing interrupts, made once. */
async function calmRun(): Promise<CalmRun> {
  if (calm !== undefined) return calm
  const { url, requests } = await startQuirky()
  const job = jobOf({ url }, { addresses: RECEIVERS, concurrency: 1 })
  expect((await run([job])).code).toBeUndefined()
  calm = { bytes: outputBytes(job.output), requests: requests.length }
  return calm
}

/** Two pages of each listing, and one transaction. */
const MIN_REQUESTS = 5

test('a run may stop before any request, and resumes with the same bytes', { tags: ['long'] }, async () => {
  const { bytes, requests } = await calmRun()
  const service = await startQuirky()
  // Each number stops at other requests: for either listing, and for transactions.
  for (const maxRequests of [MIN_REQUESTS, 8, requests - 1]) {
    const job = jobOf(service, { addresses: RECEIVERS, concurrency: 1 })
    expect(await runInSteps(job, maxRequests)).toBeGreaterThan(1)
    expect(outputBytes(job.output)).toEqual(bytes)
  }
})

test('runs with few requests make progress, although there are many readers', {
  tags: ['long'],
}, async () => {
  const job = jobOf(await startQuirky(), { addresses: RECEIVERS, concurrency: 16 })
  await runInSteps(job, MIN_REQUESTS)
  expect(outputBytes(job.output)).toEqual((await calmRun()).bytes)
})

test('a daily budget ends runs too, and a later run resumes', async () => {
  const service = await startQuirky()
  const withBudget = (computeUnitsPerDay: number, fields: Partial<Job> = {}) => {
    const job = jobOf(service, { addresses: RECEIVERS, ...fields })
    return { ...job, service: { ...job.service, computeUnitsPerDay } }
  }
  const limited = withBudget(100)
  const { code, jobs } = await run([limited])
  expect([code, jobs[0]?.stats.computeUnits, jobs[0]?.stats.requests]).toEqual(['BUDGET_REACHED', 100, 5])
  expect((await run([withBudget(1e9, { output: limited.output })])).code).toBeUndefined()
  expect(outputBytes(limited.output)).toEqual((await calmRun()).bytes)
})

/** The changes since the export without the wallet. */
const CHANGES = 'changes/000001-000000000000-000000000421.ndjson'

testSample(
  1,
  [400, 403, 404],
  'a wallet whose internal transactions are refused with %i is named, and a later run reads it',
  async (status) => {
    let isRefusing = true
    const refusing = await startQuirky({}, ({ path }) =>
      isRefusing && path.includes(RECEIVER) && path.endsWith(':listInternals')
        ? refuseWith(status)
        : undefined,
    )
    const job = jobOf(refusing, { addresses: RECEIVERS })
    const { code, jobs } = await run([job])
    expect([code, jobs[0]?.state]).toEqual(['WALLETS_REFUSED', 'incomplete'])
    const error = `the service answered ${status}: not supported (listing of internal transactions)`
    expect(jobs[0]?.stats.refused).toEqual([{ address: RECEIVER, error }])
    const covered = readManifest(job.output).coverage
    expect(covered.find(({ address }) => address === RECEIVER)).toMatchObject({ error, toBlock: 0 })
    for (const { address, toBlock } of covered) if (address !== RECEIVER) expect(toBlock).toBe(421)
    await expectValid(job.output)
    isRefusing = false
    expect((await run([job])).code).toBeUndefined()
    const { [CHANGES]: changes, ...bytes } = outputBytes(job.output)
    expect(changes).toBeDefined()
    expect(bytes).toEqual((await calmRun()).bytes)
  },
)

test('a service without the listing is noticed after 20 wallets', async () => {
  const { url, requests: sent } = await startQuirky({}, ({ path }) =>
    path.endsWith(':listInternals') ? refuseWith() : undefined,
  )
  const { code, jobs } = await run([jobOf({ url }, { addresses: demoWallets, concurrency: 1 })])
  expect(code).toBe('REQUEST_REFUSED')
  expect(jobs[0]?.error?.message).toContain('(listing of internal transactions)')
  expect(jobs[0]?.error?.fix).toContain('set internals: listing')
  // Some wallets have two pages of transactions.
  expect(sent.length).toBeLessThan(3 * 20 + 2)
})

test('details that are missing at first do not refuse the wallet', async () => {
  const missed = new Set<string>()
  const isFirst = (path: string) => missed.size < missed.add(path).size
  const service = await startQuirky({}, ({ path }) =>
    /transactions\/0x/.test(path) && isFirst(path) ? refuseWith() : undefined,
  )
  const job = jobOf(service, { addresses: RECEIVERS })
  expect((await run([job])).code).toBeUndefined()
  expect(missed.size).toBeGreaterThan(3)
  expect(outputBytes(job.output)).toEqual((await calmRun()).bytes)
})

/** Omits the internal transactions from a block on. */
const omitFrom =
  (first: number): ReturnType<Fault> =>
  (response, { headers, body }) => {
    const page = JSON.parse(String(body)) as { transactions: { blockNumber: string }[] }
    const transactions = page.transactions.filter(({ blockNumber }) => Number(blockNumber) < first)
    response.writeHead(200, { 'content-type': headers['content-type'] ?? '' })
    response.end(JSON.stringify({ ...page, transactions }))
  }

testSample(
  0,
  [
    [275, {}],
    [245, { lookbackBlocks: 60 }],
  ] as const,
  'internal transactions that appear late are found by the lookback (block %i, %o)',
  async ([first, options]) => {
    let [head, isLate] = [300, true]
    const late: Fault = ({ path }) =>
      isLate && path.endsWith(':listInternals') ? omitFrom(first) : undefined
    const growing = jobOf(await startQuirky({ head: () => head }, late), { endBlock: undefined })
    await run([growing])
    const before = await rowsOf(growing.output)
    isLate = false
    head = 320
    expect((await run([growing], options)).code).toBeUndefined()
    const whole = jobOf(await startQuirky({ head: () => head }), { endBlock: undefined })
    await run([whole])
    expect(await rowsOf(growing.output)).toEqual(await rowsOf(whole.output))
    expect(before).not.toEqual(await rowsOf(whole.output))
    await expectValid(growing.output)
  },
)
