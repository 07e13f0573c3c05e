import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { lockOutput } from '../../src/core/platform/lock/lock.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { runCommand } from '../helpers/command.ts'
import { writeJobFile } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const service = createDataService()
const [A = '', B = ''] = demoWallets
const EMPTY = `0x${'1'.repeat(40)}`

const writeJob = (fields: object = {}) =>
  writeJobFile('two', { endBlock: 421, addresses: [A, B], service: { baseUrl: 'demo' }, ...fields })

const run = async (job: string, ...args: string[]) =>
  (await runCommand(['run', job, '--quiet', ...args])).exit

describe('walletlake status', () => {
  test('reports the same for a job and for its output', { tags: ['long'] }, async () => {
    const { job, output } = writeJob()
    expect(await run(job)).toBe(0)
    const [ofJob, ofOutput] = await Promise.all([runCommand(['status', job]), runCommand(['status', output])])
    expect(ofOutput).toEqual(ofJob)
    const [first, blocks, size] = ofJob.stdout.split('\n')
    expect(first).toBe(`two: complete (${output})`)
    expect(blocks).toMatch(/^ {2}blocks 0 to 420, 2023-11-14 \d\d:\d\d to 2023-11-18 \d\d:\d\d UTC$/)
    expect(size).toMatch(/^ {2}[\d,]+ rows in 7 files, [\d.]+ [KM]B$/)
    expect(ofJob.stdout).toMatch(
      /\n {2}last run \d{4}-\d\d-\d\d \d\d:\d\d UTC: complete, \d+ requests in .+\n/,
    )
  })

  test('has a JSON field for each of its lines', async () => {
    const { job, output } = writeJob({ addresses: [A, EMPTY] })
    expect(await run(job)).toBe(0)
    const { exit, stdout, stderr } = await runCommand(['status', job, output, '--json'])
    expect([exit, stderr, stdout.split('\n')]).toEqual([0, '', [expect.any(String), '']])
    const { outputs } = JSON.parse(stdout)
    expect(outputs[1]).toEqual(outputs[0])
    expect(outputs[0]).toMatchObject({
      job: 'two',
      output,
      state: 'complete',
      chain: '43114',
      fromBlock: 0,
      toBlock: 421,
      firstTransactionAt: expect.stringMatching(/^2023-11-1.+Z$/),
      lastTransactionAt: expect.stringMatching(/^2023-11-1.+Z$/),
      filesInPlace: true,
      wallets: 2,
      emptyWallets: { count: 1, addresses: [EMPTY] },
      removedWallets: { count: 0, addresses: [] },
      rejects: 0,
      missingBlocks: 0,
      unfinished: null,
      lastRun: { state: 'complete', code: null },
    })
    const tables = Object.values(outputs[0].tables as Record<string, { rows: number; bytes: number }>)
    expect(tables.reduce((sum, { rows }) => sum + rows, 0)).toBe(outputs[0].rows)
    expect(tables.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(outputs[0].bytes)
  })

  test('reports an incomplete export if a listed file is missing', { tags: ['long'] }, async () => {
    const { job, output } = writeJob()
    expect(await run(job)).toBe(0)
    const { tables } = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8'))
    rmSync(join(output, tables.ledger.files[0].path))
    for (const word of [job, output]) {
      const { exit, stdout } = await runCommand(['status', word])
      expect(exit).toBe(0)
      expect(stdout).toContain(`two: exported (${output})\n`)
      expect(stdout).toContain('\n  files are missing or have another size: `walletlake verify` names them\n')
    }
    const { outputs } = JSON.parse((await runCommand(['status', output, '--json'])).stdout)
    expect(outputs[0].filesInPlace).toBe(false)
  })

  test('reports a run in progress, but ignores the lock of a dead process', async () => {
    const { job, output } = writeJob()
    expect(await run(job)).toBe(0)
    const idle = (await runCommand(['status', job])).stdout
    const release = await lockOutput(join(output, '.walletlake'))
    const line = /\n {2}a run has been in progress since \d{4}-\d\d-\d\d \d\d:\d\d UTC\n/
    expect((await runCommand(['status', job])).stdout).toMatch(line)
    expect((await runCommand(['status', output])).stdout).toMatch(line)
    await release()
    const dead = { pid: 2 ** 31 - 1, host: hostname(), startedAt: '2025-01-01T00:00:00.000Z', ticks: null }
    writeFileSync(join(output, '.walletlake', 'lock'), JSON.stringify(dead))
    expect((await runCommand(['status', job])).stdout).toBe(idle)
  })

  test('reports the stored pages of an unfinished run, with and without its job', async () => {
    const { job, output } = writeJob()
    expect(await run(job, '--max-requests', '3')).toBe(9)
    const { stdout } = await runCommand(['status', job])
    expect(stdout).toMatch(
      /^two: unfinished .+\n {2}2 pages with \d+ transactions kept; 2 of 2 wallets left to read\n/,
    )
    expect(stdout).toMatch(/\n {2}last run .+: failed \(BUDGET_REACHED\), 3 requests in /)
    expect((await runCommand(['status', output])).stdout).toMatch(
      new RegExp(String.raw`^${output}: unfinished\n {2}2 pages with \d+ transactions kept\n`),
    )
  })

  test('lists removed wallets and wallets without transactions', { tags: ['long'] }, async () => {
    const { job, output } = writeJob({ endBlock: undefined, addresses: [A, B, EMPTY] })
    expect(await run(job)).toBe(0)
    const rest = { addresses: [B, { address: EMPTY, label: 'typo?' }] }
    writeFileSync(job, JSON.stringify({ chain: '43114', output, service: { baseUrl: 'demo' }, ...rest }))
    expect(await run(job)).toBe(0)
    const { stdout } = await runCommand(['status', job])
    expect(stdout).toContain(
      `  1 wallet without transactions: wrong chain or wrong address?\n    ${EMPTY}  typo?\n`,
    )
    expect(stdout).toContain(
      `  1 wallet no longer in the job: exported rows are retained\n    ${A.toLowerCase()}\n`,
    )
  })

  test('shows no times without run reports', { tags: ['long'] }, async () => {
    const { job, output } = writeJob()
    expect(await run(job)).toBe(0)
    rmSync(join(output, 'runs'), { recursive: true })
    const { stdout } = await runCommand(['status', output])
    expect(stdout).toContain('\n  blocks 0 to 420\n')
    expect(stdout).not.toContain('last run')
  })

  test('shows the last run of an output without any page', async () => {
    const output = tempFolder()
    const counts = { seconds: 2, wallets: 1, requests: 11, transactions: 0 }
    const ended = { run: 'r', state: 'failed', error: { code: 'INTERRUPTED' }, chain: '1' }
    const report = { ...ended, startedAt: '2026-01-02T03:04:05Z', ...counts }
    mkdirSync(join(output, 'runs'))
    writeFileSync(join(output, 'runs', '20260102T030405Z-aaaaaa.json'), JSON.stringify(report))
    const { exit, stdout } = await runCommand(['status', output])
    expect([exit, stdout.split('\n')]).toEqual([
      0,
      [
        `${output}: not begun`,
        '  no page is stored yet',
        '  last run 2026-01-02 03:04 UTC: failed (INTERRUPTED), 11 requests in 2.0 s',
        '',
      ],
    ])
  })

  test('exits with 2 and a fix for a folder without an export', async () => {
    const { exit, stderr } = await runCommand(['status', tempFolder()])
    expect([exit, stderr]).toEqual([2, expect.stringMatching(/^USAGE: .+ holds no export\nfix: .+\n$/)])
  })

  test('reports a truncated manifest', async () => {
    const output = tempFolder()
    writeFileSync(join(output, 'manifest.json'), '{"manifestVersion":1,')
    const { exit, stderr } = await runCommand(['status', output])
    expect([exit, stderr]).toEqual([
      10,
      expect.stringMatching(/^VERIFY_FAILED: .+ manifest\.json: it is not JSON\nfix: .+\n$/),
    ])
  })
})

test('verify --json prints one verdict for valid and invalid exports, and keeps its exit code', async () => {
  const { job, output } = writeJob({ tables: ['ledger'] })
  expect(await run(job)).toBe(0)
  const good = await runCommand(['verify', job, '--json'])
  const verdict = { output, exit: 0, ok: true, finished: true, files: 1, missingBlocks: 0, problems: [] }
  expect(JSON.parse(good.stdout)).toMatchObject(verdict)
  rmSync(join(output, 'ledger'), { recursive: true })
  const bad = await runCommand(['verify', output, '--json'])
  expect(JSON.parse(bad.stdout)).toMatchObject({
    exit: 10,
    ok: false,
    problems: [expect.stringContaining('ledger')],
  })
  expect([bad.exit, bad.stderr]).toEqual([10, expect.stringContaining('VERIFY_FAILED: ')])
})

test('plan reports what is known and unknown about the next run', async () => {
  const { url } = await startLoopback(service)
  const { job } = writeJob({ endBlock: undefined, service: { baseUrl: url } })
  const before = await runCommand(['plan', job])
  expect(before.stdout).toContain(
    '  quota  at least 2 requests; how many more is unknown until the first page\n',
  )
  expect(await run(job)).toBe(0)
  expect(await run(job)).toBe(0)
  const { stdout } = await runCommand(['plan', job])
  expect(stdout).toContain('  quota  at least 2 requests, about 2 in all\n')
  const again = await runCommand(['plan', job, '--lookback', '21'])
  expect(again.stdout).toContain(`  ${A}  blocks [400, head)\n`)
  const fresh = await runCommand(['plan', job, '--fresh'])
  expect(fresh.stdout).toMatch(
    /^two: starts over, 2 wallets of 2 to read .*\n {2}quota .*about \d\d+ in all\n/,
  )
  expect(fresh.stdout).toContain(`  ${A}  blocks [0, head)\n`)
  expect(stdout).toMatch(/\n {2}time {3}about .+: [\d.]+ requests\/s as in the last run, up to 16 at once\n/)
  expect(stdout).toMatch(/\n {2}disk {3}about 0 B: [\d.]+ KB a transaction\n/)
  expect(stdout.split('\n').filter((line) => line.length > 80 && !line.startsWith('two: '))).toEqual([])
})
