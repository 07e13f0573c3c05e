import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { checkQueueJob, type Plan, planAttempt, walletsOf } from '../../src/cluster/plan.ts'
import {
  loadSelection,
  pagesPath,
  READ_RESULTS,
  type ReadResult,
  refusedWallets,
  requireSelection,
  saveSelection,
  selectReads,
} from '../../src/cluster/read-results.ts'
import { removeDamaged } from '../../src/cluster/remove-damaged.ts'
import {
  addResult,
  beginAttempt,
  endAttempt,
  openRunObjects,
  type RunState,
  readCurrentAttempt,
  readPlan,
  runStateOf,
  verifiedPath,
} from '../../src/cluster/run-state.ts'
import { listWrites, WRITE_RESULTS } from '../../src/cluster/write-results.ts'
import { ExportError } from '../../src/core/model/errors.ts'
import type { Job } from '../../src/core/model/model.ts'
import type { ObjectFolder } from '../../src/storage/object-folder.ts'
import { testJob } from '../helpers/jobs.ts'
import { tempFile, tempFolder } from '../helpers/temp-folder.ts'

const WALLETS = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`)
const SERVICE = { baseUrl: 'https://service.example', apiKeyHeader: 'x-service-api-key', timeoutMs: 120_000 }

function planOf(output: string, changes: Partial<Job> & { addresses?: string[] } = {}): Plan {
  const { addresses = WALLETS, ...rest } = changes
  const job = testJob({
    addresses,
    service: SERVICE,
    endBlock: 100,
    partitionBy: 'blocks:10',
    output,
    ...rest,
  })
  const options = { destination: { output }, existing: undefined, isFresh: false, now: 1 }
  return planAttempt({ ...checkQueueJob(job), ...options })
}

const SHA = 'a'.repeat(64)
let output: string
let objects: ObjectFolder
let plan: Plan
let runState: RunState

beforeEach(async () => {
  output = join(tempFolder(), 'out')
  objects = await openRunObjects({ output })
  plan = planOf(output)
  await beginAttempt(objects, plan)
  runState = runStateOf(objects, plan.attempt)
})

/** A read result of wallets [first, end), as a worker records it. */
function readOf(
  of: Plan,
  token: string,
  covered: Partial<ReadResult['covered']> = {},
  changes: Partial<ReadResult> = {},
): ReadResult {
  const whole = { first: 0, end: 3, from: 0, to: 100, reached: 100, ...covered }
  const addresses = walletsOf(of)
    .slice(whole.first, whole.end)
    .map(({ address }) => address)
  const ofPlan = { attempt: of.attempt, plan: of.sha256, chain: of.job.chain }
  return {
    ...ofPlan,
    token: token.repeat(16),
    addresses,
    covered: whole,
    refused: [],
    gaps: [],
    opening: [],
    newest: {},
    sha256: SHA,
    starts: {},
    ...changes,
  }
}

const refusal = (digit: string, reached: number) => {
  return { address: `0x${digit.repeat(40)}`, error: 'no', code: 'KEY_REFUSED' as const, reached }
}

describe('an attempt of a run', () => {
  test('has a plan that every machine reads unchanged', async () => {
    expect(await readCurrentAttempt(objects)).toBe(plan.attempt)
    expect(await readPlan(runState)).toEqual(JSON.parse(JSON.stringify(plan)))
  })

  test.for([
    ['another wallet', { addresses: WALLETS.slice(1) }],
    ['another range', { endBlock: 90 }],
    ['other tables', { tables: ['ledger'] as const }],
  ] as const)('is ignored if its plan was changed to %s', async ([, changes]) => {
    const changed = { ...plan, job: planOf(output, changes as Partial<Job>).job }
    await objects.putText(runState.at('plan.json'), JSON.stringify(changed))
    expect(await readPlan(runState)).toBeUndefined()
  })

  test('starts without results of earlier ones, and they add none to it', async () => {
    const later = planOf(output)
    await beginAttempt(objects, later)
    const add = addResult(runState, (token) => READ_RESULTS.put(runState, readOf(plan, token.slice(0, 1))))
    // Not retried, and not mistaken for an error of the service or the disk.
    await expect(add).rejects.toMatchObject({ code: 'INTERRUPTED', failure: { retry: false } })
    expect(await READ_RESULTS.list(runStateOf(objects, later.attempt), later)).toEqual([])
    expect(readdirSync(join(output, '.walletlake', 'cluster')).sort()).toEqual(
      [later.attempt, 'current.json'].sort(),
    )
  })

  test('that has ended keeps nothing that a late worker adds', async () => {
    const add = addResult(runState, async (token) => {
      await endAttempt(runState)
      await READ_RESULTS.put(runState, readOf(plan, token.slice(0, 1)))
    })
    await expect(add).rejects.toThrow('is over')
    const left = readdirSync(join(output, '.walletlake'), { recursive: true, withFileTypes: true })
    expect(left.filter((entry) => entry.isFile())).toEqual([])
  })

  test('that has ended leaves a newer one untouched', async () => {
    const later = planOf(output)
    await beginAttempt(objects, later)
    await endAttempt(runState)
    expect(await readCurrentAttempt(objects)).toBe(later.attempt)
  })
})

describe('a read result counts only', () => {
  const foreign = (name: string) => planOf(name, { addresses: WALLETS.slice(1) })
  test.for<[string, () => ReadResult]>([
    ['of its attempt', () => readOf(planOf(output), '1')],
    ['of its plan', () => readOf(plan, '1', {}, { plan: 'b'.repeat(64) })],
    ['of its chain', () => readOf(plan, '1', {}, { chain: '1' })],
    ['of its wallets', () => readOf(plan, '1', {}, { addresses: readOf(foreign(output), '1').addresses })],
    ['of existing wallets', () => readOf(plan, '1', { end: 4 })],
    ['of its blocks', () => readOf(plan, '1', { to: 101, reached: 101 })],
    ['with refusals of its wallets', () => readOf(plan, '1', {}, { refused: [refusal('9', 50)] })],
    ['with refusals of its blocks', () => readOf(plan, '1', {}, { refused: [refusal('1', 100)] })],
    ['under its own name', () => ({ ...readOf(plan, '1'), token: '2'.repeat(16) })],
  ])('%s', async ([, make]) => {
    await objects.putText(runState.at(`reads/${'1'.repeat(16)}.json`), JSON.stringify(make()))
    expect(await READ_RESULTS.list(runState, plan)).toEqual([])
  })

  test('with the pages that it recorded', async () => {
    const file = tempFile('pages', 'other pages')
    await objects.putFile(runState.at(pagesPath('1'.repeat(16))), file)
    await expect(verifiedPath(runState, pagesPath('1'.repeat(16)), SHA)).rejects.toMatchObject({
      code: 'OUTPUT_FAILED',
    })
  })
})

describe('the selection of reads for partitions', () => {
  test('is rejected if pages are missing', async () => {
    await expect(requireSelection(runState, plan)).rejects.toThrow('pages of the run are missing')
    const reads = [readOf(plan, '1', { end: 2 }), readOf(plan, '2', { first: 2, reached: 60 })]
    await saveSelection(runState, plan, { reads, end: 100, isProven: true })
    await expect(requireSelection(runState, plan)).rejects.toThrow('pages of the run are missing')
  })

  test('is the first one that was saved', async () => {
    const first = await saveSelection(runState, plan, { reads: [readOf(plan, '1')], end: 90, isProven: true })
    const late = await saveSelection(runState, plan, { reads: [readOf(plan, '2')], end: 100, isProven: true })
    expect(late).toEqual(first)
    expect((await loadSelection(runState, plan))?.reads.map(({ token }) => token)).toEqual(['1'.repeat(16)])
  })

  test('contains no redundant reads', () => {
    const twice = [readOf(plan, '3'), readOf(plan, '1', { end: 2 }), readOf(plan, '2', { first: 1 })]
    expect(selectReads(twice).map(({ token }) => token[0])).toEqual(['3'])
    const parts = [
      readOf(plan, '1', { end: 2 }),
      readOf(plan, '2', { first: 1 }),
      readOf(plan, '4', { end: 1, reached: 50 }),
    ]
    expect(selectReads(parts).map(({ token }) => token[0])).toEqual(['1', '2'])
  })

  test('contains refused wallets up to the block of their pages, unless another read covers them', () => {
    const early = readOf(plan, '1', { to: 60, reached: 60 })
    const late = readOf(plan, '2', { from: 60 }, { refused: [refusal('2', 60)] })
    expect(refusedWallets(plan, [early, late])).toEqual([{ ...refusal('2', 60), toBlock: 60 }])
    const again = readOf(plan, '3', { from: 60 })
    expect(selectReads([early, late, again]).map(({ token }) => token[0])).toEqual(['1', '3'])
    expect(refusedWallets(plan, [early, again])).toEqual([])
  })

  test('determines which partitions count', async () => {
    const facts = { fingerprints: SHA, repeatedLogs: 0, decimals: {}, contradicted: 0, contradictions: [] }
    const ofPlan = { attempt: plan.attempt, plan: plan.sha256, from: 0, to: 10 }
    const write = { ...ofPlan, ...facts, manifest: SHA, times: null }
    await WRITE_RESULTS.put(runState, { ...write, token: '1'.repeat(16), reading: SHA })
    await WRITE_RESULTS.put(runState, { ...write, token: '2'.repeat(16), reading: 'b'.repeat(64) })
    const written = async (sha256: string) => [...(await listWrites({ runState, plan }, { sha256 })).values()]
    expect((await written(SHA)).map(({ token }) => token[0])).toEqual(['1'])
    expect(await written('c'.repeat(64))).toEqual([])
  })
})

test('damaged results are removed after an output failure and after no other', async () => {
  await saveSelection(runState, plan, { reads: [readOf(plan, '1')], end: 100, isProven: true })
  await READ_RESULTS.put(runState, readOf(plan, '1'))
  const selection = await requireSelection(runState, plan)
  const facts = {
    fingerprints: SHA,
    repeatedLogs: 0,
    decimals: {},
    contradicted: 0,
    contradictions: [],
    times: null,
  }
  const ofPlan = { attempt: plan.attempt, plan: plan.sha256, from: 0, to: 10 }
  const write = { ...ofPlan, ...facts, token: '2'.repeat(16), manifest: SHA, reading: selection.sha256 }
  await WRITE_RESULTS.put(runState, write)
  const stored = async () => [
    (await READ_RESULTS.list(runState, plan)).length,
    (await listWrites({ runState, plan }, selection)).size,
  ]
  const forget = (code: 'OUTPUT_FAILED' | 'SERVICE_UNAVAILABLE') =>
    removeDamaged({ runState, plan }, { selection, writes: [write] }, new ExportError(code, 'it failed'))
  expect([await forget('SERVICE_UNAVAILABLE'), await stored()]).toEqual([false, [1, 1]])
  expect([await forget('OUTPUT_FAILED'), await stored()]).toEqual([true, [0, 0]])
  expect(await loadSelection(runState, plan)).toBeUndefined()
})

test('removed wallets are read up to their previous end, after those of the job', () => {
  const [, , removed = ''] = WALLETS
  const existing = {
    coverage: [{ address: removed, fromBlock: 0, toBlock: 40, transactions: 1, label: null }],
    tables: {},
  }
  const job = testJob({
    addresses: WALLETS.slice(0, 2),
    service: SERVICE,
    endBlock: 100,
    partitionBy: 'day',
    output,
  })
  const options = { destination: { output }, existing: existing as never, isFresh: false, now: 1 }
  const next = planAttempt({ ...checkQueueJob(job), ...options })
  expect(walletsOf(next).map(({ address, to }) => [address, to])).toEqual([
    [WALLETS[0], 100],
    [WALLETS[1], 100],
    [removed, 40],
  ])
  expect(next.sha256).not.toBe(planAttempt({ ...checkQueueJob(job), ...options, existing: undefined }).sha256)
})
