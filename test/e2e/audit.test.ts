import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataService } from '../../src/demo-server/data-service.ts'
import { run } from '../../src/export/run.ts'
import { openDataset } from '../../src/read/dataset.ts'
import { type AuditOptions, auditOutput } from '../../src/verify/audit/audit.ts'
import { runCommand } from '../helpers/command.ts'
import { faultWhere, respondWith, withChangedBlockPage } from '../helpers/faults.ts'
import { blocksJob, testJob } from '../helpers/jobs.ts'
import { type Fault, startLoopback } from '../helpers/loopback.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readManifest } from '../helpers/read-output.ts'
import { shortQuota } from '../helpers/short-quota.ts'
import { suiteFolder, tempFolder } from '../helpers/temp-folder.ts'

const service = createDataService()
const folder = suiteFolder()
const csv = join(folder, 'csv')
/** The same export without its run reports. */
const unknown = join(folder, 'unknown')
const parquet = join(folder, 'parquet')
const BUSY = '0xa548f4431ec271b95b8bdf86c85147c3bbbc5a4f'
const END = 40
const job = (given: Partial<Parameters<typeof testJob>[0]>) =>
  testJob({ addresses: demoWallets, endBlock: END, ...given })

beforeAll(async () => {
  const { jobs } = await run([
    job({ name: 'csv', output: csv, compression: 'gzip', maxRowsPerFile: 500 }),
    job({ name: 'parquet', output: parquet, format: 'parquet', startBlock: 30 }),
  ])
  expect(jobs.map(({ state }) => state)).toEqual(['complete', 'complete'])
  cpSync(csv, unknown, { recursive: true, filter: (path) => !path.endsWith('runs') })
})

type Given = { output?: string; blocks?: AuditOptions['blocks']; fault?: Fault; from?: DataService }

async function audit({ output = csv, blocks = 'all', fault, from = service }: Given) {
  const { url, requests } = await startLoopback(from, fault)
  const retry = { retries: 1, firstDelayMs: 1 }
  const result = await auditOutput(output, { service: { baseUrl: url, retry }, blocks })
  return { ...result, received: requests }
}

const blockOf = (path: string) => Number(/\/blocks\/(\d+)\//.exec(path)?.[1])

test.for([
  { format: 'CSV', output: csv, first: 0 },
  { format: 'Parquet', output: parquet, first: 30 },
])('confirms an export in $format for every block of its coverage', async ({ output, first }) => {
  const { received, problems, ...result } = await audit({ output })
  const rows = readManifest(output).tables.transactions?.rows
  expect(problems).toEqual([])
  expect(result).toMatchObject({ ok: true, blocks: END - first, compared: rows, unknownBlocks: 0 })
  expect(Math.min(...received.map(({ path }) => blockOf(path)))).toBe(first)
  expect(new Set(received.map(({ path }) => blockOf(path))).size).toBe(END - first)
})

test('takes half of a sample from blocks with exported transactions', async () => {
  const output = tempFolder()
  const quiet = demoWallets.find((address) => address.startsWith('0xbc7e6521f2')) ?? ''
  await run([job({ addresses: [quiet], output, endBlock: 421 })])
  const rows = readManifest(output).tables.transactions?.rows ?? 0
  expect(rows).toBeGreaterThan(0)
  const { compared, blocks, received } = await audit({ output, blocks: { sample: 40, seed: 1 } })
  const requestedBlocks = new Set(received.map(({ path }) => path))
  expect({ blocks, received: requestedBlocks.size }).toEqual({ blocks: 40, received: 40 })
  expect(compared).toBeGreaterThanOrEqual(Math.min(20, rows))
})

test('requests the same blocks for the same seed', { tags: ['long'] }, async () => {
  const auditWithSeed = async (seed: number) =>
    (await audit({ blocks: { sample: 10, seed } })).received.map(({ path }) => blockOf(path)).sort()
  const blocks = await auditWithSeed(3)
  expect(await auditWithSeed(3)).toEqual(blocks)
  expect(blocks).not.toEqual(await auditWithSeed(4))
})

describe('on a mismatch', () => {
  const at = (block: number) => (request: { path: string; query: URLSearchParams }) =>
    blockOf(request.path) === block && !request.query.has('pageToken')
  const BLOCK = 37
  const LATER = { blockTimestamp: 1_900_000_000, blockTimestampMilliseconds: 1_900_000_000_000 }

  test.for([
    { kind: 'surplus', change: (one: object[]) => one.slice(1) },
    { kind: 'differing', change: ([first, ...rest]: object[]) => [{ ...first, value: '7' }, ...rest] },
    { kind: 'differing', change: ([first, ...rest]: object[]) => [{ ...first, ...LATER }, ...rest] },
    {
      kind: 'missing',
      change: (all: object[]) => [...all, { txHash: '0xnew', from: { address: BUSY }, to: { address: '' } }],
    },
  ] as const)('counts and reports a transaction that is $kind', async ({ kind, change }) => {
    const fault = faultWhere(
      at(BLOCK),
      withChangedBlockPage((page) => ({ ...page, transactions: change(page.transactions) })),
    )
    const { problems, ...result } = await audit({ fault })
    expect(result).toMatchObject({ ok: false, missing: 0, surplus: 0, differing: 0, [kind]: 1 })
    expect(problems).toEqual([expect.stringMatching(`^block ${BLOCK}: ${kind}: transaction 0x`)])
  })

  test('lists fifty problems and counts the others', async () => {
    const fault = faultWhere(
      () => true,
      withChangedBlockPage(() => ({ transactions: [] })),
    )
    const { problems, surplus } = await audit({ fault })
    expect(problems).toHaveLength(51)
    expect(problems.at(-1)).toBe(`and ${surplus - 50} more`)
  })

  test('reports blocks that the service does not know and compares the others', async () => {
    const fault = faultWhere(at(BLOCK), respondWith(404, '{"message":"no block"}'))
    expect(await audit({ fault })).toMatchObject({ ok: true, blocks: END - 1, unknownBlocks: 1 })
  })

  test('counts entries without a hash and compares the others', async () => {
    const fault = faultWhere(
      at(0),
      withChangedBlockPage((page) => ({ ...page, transactions: [null, ...page.transactions] })),
    )
    expect(await audit({ fault })).toMatchObject({ ok: true, unreadable: 1 })
  })
})

test.for([
  { when: 'the service knows none of the blocks', fault: respondWith(404, '{}'), code: 'REQUEST_REFUSED' },
  { when: 'the service stays down', fault: respondWith(503, '{}'), code: 'SERVICE_UNAVAILABLE' },
  { when: 'the key is refused', fault: respondWith(403, '{}'), code: 'KEY_REFUSED' },
])('gives no verdict if $when', async ({ fault, code }) => {
  const blocks = { sample: 3, seed: 1 }
  await expect(audit({ blocks, fault: faultWhere(() => true, fault) })).rejects.toMatchObject({ code })
})

test('stays within a quota and returns the same verdict', { tags: ['long'] }, async () => {
  const from = createDataService(shortQuota())
  const { rateLimited, ok } = await audit({ from, blocks: { sample: 60, seed: 1 } })
  expect(ok).toBe(true)
  expect(rateLimited).toBeGreaterThan(0)
})

test.for([
  { what: 'no table of transactions', tables: ['ledger'] as const, says: /no table transactions/ },
  { what: 'no manifest', tables: undefined, says: /no finished export/ },
])('rejects a folder with $what', async ({ tables, says: words }) => {
  const output = tempFolder()
  if (tables !== undefined) await run([job({ addresses: [BUSY], output, tables })])
  await expect(audit({ output })).rejects.toMatchObject({ code: 'USAGE', message: words })
})

test.for([
  { what: 'a manifest that is not JSON', spoil: (path: string) => writeFileSync(path, '{') },
  {
    what: 'a missing listed file',
    spoil: (path: string) => rmSync(join(path, '..', 'transactions'), { recursive: true }),
  },
])('reports $what', async ({ spoil }) => {
  const output = tempFolder()
  await run([job({ addresses: [BUSY], output })])
  spoil(join(output, 'manifest.json'))
  await expect(audit({ output })).rejects.toMatchObject({ code: 'VERIFY_FAILED' })
})

test('reports that another run replaced the export while it was read', async () => {
  const output = tempFolder()
  await run([job({ addresses: [BUSY], output })])
  const opened = await openDataset(output)
  onTestFinished(() => opened.close())
  const read = () => opened.eachFile('ledger', (source) => `SELECT count(*) FROM ${source}`)
  await read()
  await run([job({ addresses: [BUSY], output, compression: 'gzip' })], { fresh: true })
  await expect(read()).rejects.toMatchObject({ code: 'OUTPUT_LOCKED' })
})

test('rejects a block export, which comes from the second source itself', async () => {
  const output = tempFolder()
  await run([blocksJob({ output, endBlock: 5 })])
  await expect(audit({ output })).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('is a block export'),
  })
})

test('does not confirm an export that covers no blocks', async () => {
  const output = tempFolder()
  cpSync(csv, output, { recursive: true })
  const manifest = readManifest(output)
  for (const wallet of manifest.coverage) wallet.toBlock = wallet.fromBlock
  writeFileSync(join(output, 'manifest.json'), JSON.stringify(manifest))
  await expect(audit({ output })).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('covers no blocks'),
  })
})

describe('walletlake audit', () => {
  test('prints a readable verdict, exits with 0 and does not change the export', async () => {
    const before = outputBytes(csv)
    const { exit, stdout, stderr } = await runCommand(['audit', csv, '--base-url', 'demo', '--sample', '30'])
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
    expect(outputBytes(csv)).toEqual(before)
    expect(stdout).toMatch(/OK by 30 blocks \(\d+ requests; --seed \d+ selects the same ones again\)/)
  })

  test('prints one JSON verdict on stdout and exits with 10 on a mismatch', async () => {
    const fault = faultWhere(
      () => true,
      withChangedBlockPage(() => ({ transactions: [] })),
    )
    const { url } = await startLoopback(service, fault)
    const args = ['audit', csv, '--sample', '4', '--seed', '9', '--json', '--quiet']
    const { exit, stdout, stderr } = await runCommand(args, { WALLETLAKE_BASE_URL: url })
    expect(exit).toBe(10)
    expect(stderr).toMatch(/^VERIFY_FAILED: .+\nfix: .+\n$/)
    expect(JSON.parse(stdout)).toMatchObject({ output: csv, seed: 9, ok: false, blocks: 4, requests: 4 })
  })

  test.for([
    { args: [unknown], says: 'no service is named' },
    { args: [csv, '--base-url', 'ftp://x'], says: 'baseUrl' },
    { args: [csv, '--base-url', 'demo', '--sample', '0'], says: '--sample' },
    { args: [csv, '--base-url', 'demo', '--seed', 'x'], says: '--seed' },
    { args: [csv, '--base-url', 'demo', '--blocks', '7'], says: 'all' },
    { args: [csv, '--base-url', 'demo', '--blocks', 'all', '--sample', '7'], says: 'cannot be used with' },
    { args: [csv, '--base-url', 'demo', '--blocks', 'all', '--seed', '7'], says: 'cannot be used with' },
    { args: [csv, '--base-url', 'demo', '--concurrency', '999'], says: '--concurrency' },
    { args: ['no-such-folder', '--base-url', 'demo'], says: 'no-such-folder' },
  ])('exits with 2 and a fix for: $says', async ({ args, says: words }) => {
    const { exit, stderr } = await runCommand(['audit', ...args])
    expect(exit).toBe(2)
    expect(stderr).toMatch(/^USAGE: (.+\n)+fix: .+\n$/)
    expect(stderr).toContain(words)
  })

  test('sends the key from the environment and never shows it', async () => {
    const { url } = await startLoopback(createDataService({ keys: ['right-secret-key'] }))
    const args = ['audit', csv, '--base-url', url, '--sample', '3', '--verbose']
    const good = await runCommand(args, { WALLETLAKE_API_KEY: 'right-secret-key' })
    expect(good.exit).toBe(0)
    const bad = await runCommand(args, { WALLETLAKE_API_KEY: 'wrong-secret-key' })
    expect(bad.exit).toBe(3)
    expect(good.stdout + good.stderr + bad.stdout + bad.stderr).not.toContain('secret-key')
  })
})
