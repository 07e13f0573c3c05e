import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { lockOutput } from '../../src/core/platform/lock/lock.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataService } from '../../src/demo-server/data-service.ts'
import { run } from '../../src/export/run.ts'
import { type ReindexOptions, reindexOutput } from '../../src/reindex/reindex.ts'
import { runCommand, startCommand } from '../helpers/command.ts'
import { faultWhere, respondWith } from '../helpers/faults.ts'
import { testJob } from '../helpers/jobs.ts'
import { type Fault, startLoopback } from '../helpers/loopback.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readCsvTable, type TextRow } from '../helpers/read-output.ts'
import { shortQuota } from '../helpers/short-quota.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'

const HOUR_MS = 3_600_000
const NOW = Date.parse('2026-01-01T00:00:00Z')
const NFT_ONLY = '0x33ed23f86f8e72507a26748dc0a450590d7c679b'
const asksReindex = ({ path }: { path: string }) => path.endsWith(':reindex')

/** Exports a wallet with many NFTs. The service and the reindex share a simulated clock. */
async function exported(given: { fault?: Fault; format?: 'csv' | 'parquet'; service?: DataService } = {}) {
  const time = { now: NOW }
  const clock = () => time.now
  const service = given.service ?? createDataService({ clock })
  const { url, requests } = await startLoopback(service, given.fault)
  const output = tempFolder()
  const endpoint = { baseUrl: url }
  const job = testJob({ addresses: [NFT_ONLY], output, service: endpoint, format: given.format ?? 'csv' })
  expect((await run([job])).code).toBeUndefined()
  const reindex = (more: Partial<Omit<ReindexOptions, 'service'>> & { service?: object } = {}) => {
    const { service: access, ...options } = more
    const retry = { retries: 1, firstDelayMs: 1 }
    return reindexOutput(output, { service: { baseUrl: url, retry, ...access }, clock, ...options })
  }
  const orders = () => requests.filter(asksReindex).map(({ path }) => path)
  return { time, output, job, url, reindex, orders }
}

/** Finds the last row of each token, by contract and id. */
async function lastRows(output: string): Promise<Map<string, TextRow>> {
  const rows = [
    ...(await readCsvTable(output, 'erc721_transfers')),
    ...(await readCsvTable(output, 'erc1155_transfers')),
  ]
  const place = (row: TextRow) =>
    ['block_number', 'transaction_index', 'log_index', 'transfer_ordinal'].map((at) => Number(row[at] ?? 0))
  const order = (a: TextRow, b: TextRow) =>
    place(a)
      .map((part, at) => part - (place(b)[at] ?? 0))
      .find((by) => by !== 0) ?? 0
  return new Map(rows.sort(order).map((row) => [`${row.token_address}/${row.token_id}`, row]))
}

const isGood = (row: TextRow) =>
  row.metadata_index_status?.toUpperCase() === 'INDEXED' && row.metadata_name !== ''

test.for(['csv', 'parquet'] as const)('requests each token without metadata in %s once', async (format) => {
  const { output, reindex, orders } = await exported({ format })
  const csv = format === 'csv' ? output : (await exported()).output
  const bad = [...(await lastRows(csv))].filter(([, row]) => !isGood(row)).map(([key]) => key)
  expect(bad.length).toBeGreaterThan(5)
  const result = await reindex()
  expect(result).toMatchObject({ missing: bad.length, accepted: bad.length, remaining: 0, error: undefined })
  const named = orders().map((path) => path.replace(/^.*collections\/(.*)\/tokens\/(.*):reindex$/, '$1/$2'))
  expect(named.sort()).toEqual(bad.sort())
})

test('finds nothing to request after an export with the new metadata', { tags: ['long'] }, async () => {
  const { output, job, reindex, time, orders } = await exported()
  const before = await lastRows(output)
  const { accepted } = await reindex()
  await run([job], { fresh: true })
  const after = await lastRows(output)
  for (const [key, row] of before) {
    const now = after.get(key) ?? {}
    if (isGood(row)) expect(now).toEqual(row)
    else expect(now.metadata_updated_at).toBe(new Date(NOW).toISOString())
    expect(isGood(now)).toBe(true)
  }
  time.now += 2 * HOUR_MS
  expect(await reindex()).toMatchObject({ missing: 0, accepted: 0 })
  expect(orders()).toHaveLength(accepted)
})

test('requests no token twice within an hour, but again after it', async () => {
  const { reindex, time, orders } = await exported()
  const { accepted } = await reindex()
  time.now += HOUR_MS - 1
  expect(await reindex()).toMatchObject({ recentlyRequested: accepted, accepted: 0, requests: 0 })
  time.now += 1
  expect(await reindex()).toMatchObject({ recentlyRequested: 0, accepted })
  expect(orders()).toHaveLength(2 * accepted)
})

test('requests metadata older than the limit, unless it was requested recently', {
  tags: ['long'],
}, async () => {
  const { reindex, time, output } = await exported()
  const all = (await lastRows(output)).size
  const olderThanMs = 30 * 24 * HOUR_MS
  expect(await reindex({ olderThanMs })).toMatchObject({ accepted: all, missing: expect.any(Number) })
  time.now += 24 * HOUR_MS
  const { old, missing } = await reindex({ olderThanMs, dryRun: true })
  expect({ old, some: missing > 0 }).toEqual({ old: 0, some: true })
  time.now += olderThanMs
  expect((await reindex({ olderThanMs, dryRun: true })).old).toBe(all - missing)
})

test('requests and writes nothing in a dry run, but lists the tokens', async () => {
  const { reindex, output, orders } = await exported()
  const named: string[] = []
  const onToken = ({ address, id }: { address: string; id: string }) => named.push(`${address}/${id}`)
  const service = { baseUrl: undefined }
  const { missing, remaining } = await reindex({ dryRun: true, onToken, service })
  expect(named).toEqual([...new Set(named)].sort())
  expect({ remaining, named: named.length }).toEqual({ remaining: missing, named: missing })
  expect(orders()).toEqual([])
  expect((await reindex()).recentlyRequested).toBe(0)
  expect(outputBytes(output)).not.toEqual({})
})

test('resumes where the budget ended, without repeating requests', async () => {
  const { reindex, orders } = await exported()
  const first = await reindex({ service: { maxRequests: 5, concurrency: 3 } })
  expect(first.error).toMatchObject({ code: 'BUDGET_REACHED' })
  expect(first).toMatchObject({ accepted: 5, remaining: first.missing - 5 })
  const second = await reindex()
  expect(second).toMatchObject({
    accepted: first.remaining,
    recentlyRequested: 5,
    remaining: 0,
    error: undefined,
  })
  expect(new Set(orders()).size).toBe(orders().length)
})

test("records a token's own limit without treating it as an error", { tags: ['long'] }, async () => {
  const { reindex, time, output } = await exported()
  const { accepted } = await reindex()
  writeFileSync(join(output, '.walletlake/reindex/requests.ndjson'), 'lost')
  time.now += HOUR_MS / 2
  expect(await reindex()).toMatchObject({ limited: accepted, accepted: 0, error: undefined })
  time.now += HOUR_MS / 2 - 1_000
  expect(await reindex()).toMatchObject({ recentlyRequested: accepted })
  time.now += 1_000
  expect(await reindex()).toMatchObject({ accepted })
})

test('reports tokens that the service does not know and requests the others', async () => {
  const seen = new Set<string>()
  const isFirst = ({ path }: { path: string }) => asksReindex({ path }) && seen.add(path).size === 1
  const fault = faultWhere(isFirst, respondWith(404, '{"message":"no such token"}'))
  const { reindex } = await exported({ fault })
  const { messages, missing, ...counts } = await reindex()
  expect(counts).toMatchObject({ unknown: 1, accepted: missing - 1, error: undefined })
  expect(messages).toEqual([expect.stringMatching(/^reindexing token \d+ of 0x.+: .+ 404: no such token$/)])
})

test('waits for a quota and requests every token', { tags: ['long'] }, async () => {
  const service = createDataService({ clock: () => NOW, ...shortQuota() })
  const { reindex } = await exported({ service })
  const { rateLimited, accepted, missing } = await reindex()
  expect(accepted).toBe(missing)
  expect(rateLimited).toBeGreaterThan(0)
})

test.for([
  { when: 'the key is refused', fault: respondWith(401, '{}'), code: 'KEY_REFUSED' },
  { when: 'the service stays down', fault: respondWith(502, '{}'), code: 'SERVICE_UNAVAILABLE' },
])('ends resumable if $when', async ({ fault, code }) => {
  const { reindex, orders } = await exported({ fault: faultWhere(asksReindex, fault) })
  const { error, missing, remaining, unanswered } = await reindex({ service: { concurrency: 1 } })
  expect(error).toMatchObject({ code })
  expect(remaining + unanswered).toBe(missing)
  expect(new Set(orders()).size).toBe(1)
})

test('what a refused key prevented is requested as soon as the key is right', async () => {
  let isWrong = true
  const fault = faultWhere((one) => asksReindex(one) && isWrong, respondWith(403, '{}'))
  const { reindex } = await exported({ fault })
  const olderThanMs = 30 * 24 * HOUR_MS
  expect((await reindex({ olderThanMs })).error).toMatchObject({ code: 'KEY_REFUSED' })
  isWrong = false
  // The embedded service has processed the requests whose responses were replaced, so it limits those tokens.
  const { accepted, limited, old, missing, recentlyRequested } = await reindex({ olderThanMs })
  expect([accepted + limited, recentlyRequested]).toEqual([old + missing, 0])
  expect(old).toBeGreaterThan(0)
})

test('a lost response blocks a token for an hour, visibly, and does not count as a refresh', async () => {
  let isDown = true
  const fault = faultWhere((one) => asksReindex(one) && isDown, respondWith(502, '{}'))
  const { reindex, time } = await exported({ fault })
  const olderThanMs = 30 * 24 * HOUR_MS
  const first = await reindex({ olderThanMs, service: { concurrency: 1 } })
  expect(first).toMatchObject({ unanswered: 1, error: { code: 'SERVICE_UNAVAILABLE' } })
  isDown = false
  const second = await reindex({ olderThanMs })
  expect(second).toMatchObject({ recentlyRequested: 1, unconfirmed: 1, accepted: first.remaining })
  expect(await reindex({ olderThanMs })).toMatchObject({
    unconfirmed: 1,
    error: { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('1 token were lost') },
  })
  time.now += HOUR_MS
  expect(await reindex({ olderThanMs })).toMatchObject({ unconfirmed: 0, error: undefined })
})

test('ends with an error if the service refuses every token', async () => {
  const { reindex } = await exported({ fault: faultWhere(asksReindex, respondWith(404, '{}')) })
  expect(await reindex()).toMatchObject({ accepted: 0, error: { code: 'REQUEST_REFUSED' } })
})

test('refuses to run twice at the same time on one output', async () => {
  const { reindex, output } = await exported()
  const release = await lockOutput(join(output, '.walletlake', 'reindex'), 'reindexing')
  const message = expect.stringContaining('has been reindexing here since')
  await expect(reindex()).rejects.toMatchObject({ code: 'OUTPUT_LOCKED', message })
  await release()
  expect((await reindex()).error).toBeUndefined()
})

test('rejects an export without tables of NFT transfers', async () => {
  const { job } = await exported()
  const output = tempFolder()
  await run([{ ...job, output, tables: ['ledger'] }])
  await expect(reindexOutput(output, { service: { baseUrl: 'demo' } })).rejects.toMatchObject({
    code: 'USAGE',
  })
})

describe('walletlake reindex', () => {
  test('prints a summary as text and as JSON', { tags: ['long'] }, async () => {
    const { output, url } = await exported()
    const dry = await runCommand(['reindex', output, '--dry-run'])
    expect(dry).toMatchObject({ exit: 0, stderr: '' })
    expect(dry.stdout).toMatch(/^0x[0-9a-f]{40}\/\d+ {2}[A-Z_]+\n/)
    const first = await runCommand(['reindex', output, '--base-url', url, '--max-requests', '4'])
    expect(first.stdout).toContain('4  accepted by the service for reindexing')
    expect(first.stderr).toMatch(/^BUDGET_REACHED: .+\nfix: .+\n$/)
    expect(first.exit).toBe(9)
    const second = await runCommand(['reindex', output, '--base-url', url, '--json'])
    expect(JSON.parse(second.stdout)).toMatchObject({
      output,
      exit: 0,
      dryRun: false,
      recentlyRequested: 4,
      remaining: 0,
    })
  })

  testSample(
    1,
    [
      { signal: 'SIGINT', exit: 130 },
      { signal: 'SIGTERM', exit: 143 },
    ] as const,
    'exits with $exit on $signal and resumes later',
    async ({ signal, exit }) => {
      let child: ReturnType<typeof startCommand> | undefined
      let orders = 0
      const fault: Fault = (one) => {
        if (!asksReindex(one)) return undefined
        orders += 1
        if (orders !== 3) return undefined
        return () => void child?.kill(signal)
      }
      const { output, url } = await exported({ fault })
      child = startCommand(['reindex', output, '--base-url', url, '--concurrency', '1'])
      expect(await child.ended).toMatchObject({ exit })
      const again = await runCommand(['reindex', output, '--base-url', url, '--json'])
      expect(JSON.parse(again.stdout)).toMatchObject({ exit: 0, recentlyRequested: 3, remaining: 0 })
    },
  )

  test.for([
    { args: ['no-such-folder', '--base-url', 'demo'], says: 'no-such-folder' },
    { args: ['.', '--base-url', 'demo'], says: 'no finished export' },
    { args: ['.', '--older-than', 'old'], says: '--older-than' },
    { args: ['.', '--max-requests', '-1'], says: '--max-requests' },
    { args: ['.', '--deadline', '0s'], says: '--deadline' },
  ])('exits with 2 and a fix for: $says', async ({ args, says: words }) => {
    const { exit, stderr } = await runCommand(['reindex', ...args])
    expect(exit).toBe(2)
    expect(stderr).toMatch(/^USAGE: (.+\n)+fix: .+\n$/)
    expect(stderr).toContain(words)
  })

  test('sends the key from the environment and never writes it', async () => {
    const keyed = createDataService({ keys: ['right-secret-key'] })
    const open = createDataService()
    const service: DataService = {
      handle: (request) => (request.method === 'POST' ? keyed : open).handle(request),
    }
    const { output, url } = await exported({ service })
    const args = ['reindex', output, '--base-url', url, '--verbose']
    const good = await runCommand(args, { WALLETLAKE_API_KEY: 'right-secret-key' })
    expect(good.exit).toBe(0)
    const log = readFileSync(join(output, '.walletlake/reindex/requests.ndjson'), 'utf8')
    expect(good.stdout + good.stderr + log).not.toContain('secret-key')
  })
})
