import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rows } from '../../src/export/rows.ts'
import { runCommand } from '../helpers/command.ts'
import { testJob } from '../helpers/jobs.ts'
import { ALICE, BOB, startSmallListing, transfersTo } from '../helpers/small-listing.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const BOTH = [...transfersTo(ALICE, 120), ...transfersTo(BOB, 30, { from: 1_100 })]
const MISSING = `rows of 1 wallet are missing (refused by the service): ${BOB}`

async function startRefusing(status: number) {
  const listing = await startSmallListing({ transfers: BOTH, head: 1_129 })
  listing.refused.set(BOB, status)
  return listing
}

test('every command that reads an export reports the wallets whose rows are missing', async () => {
  const listing = await startRefusing(404)
  const output = join(tempFolder(), 'mine')
  const command = (...args: string[]) => runCommand(args)
  const wallets = ['--address', ALICE, '--address', BOB]
  const run = () =>
    command(
      'run',
      '--chain',
      '43114',
      ...wallets,
      '--name',
      'mine',
      '--base-url',
      listing.url,
      '--output',
      output,
    )
  const ran = await run()
  const refusal = `WALLETS_REFUSED: mine: the service refused 1 wallet and answered the others: ${BOB}\n`
  expect([ran.exit, ran.stderr]).toEqual([6, expect.stringContaining(refusal)])
  for (const text of [ran.stdout, (await command('status', output)).stdout]) {
    expect(text).toContain('the service refused 1 wallet and answered the others')
    expect(text).toContain(BOB)
  }
  const verified = await command('verify', output)
  expect([verified.exit, verified.stdout]).toEqual([
    0,
    expect.stringContaining('OK, without 1 refused wallet ('),
  ])
  expect(verified.stdout).toContain(`    ${BOB}\n      the service answered 404: address not supported\n`)
  expect(JSON.parse((await command('verify', output, '--json')).stdout)).toMatchObject({
    exit: 0,
    ok: true,
    refusedWallets: [{ address: BOB, error: 'the service answered 404: address not supported' }],
  })
  const database = `sqlite:${join(tempFolder(), 'lake.db')}`
  for (const args of [
    ['balances', output, '--format', 'csv'],
    ['convert', output, '--to', 'generic'],
    ['query', output, 'select count(*) from transactions', '--format', 'csv'],
    ['load', output, '--to', database],
    ['report', output],
  ]) {
    const result = await command(...args)
    expect([args[0], result.exit, result.stderr]).toEqual([args[0], 0, expect.stringContaining(MISSING)])
  }
  expect(readFileSync(join(output, 'report.html'), 'utf8')).toContain(MISSING)
  const strict = await command('convert', output, '--to', 'generic', '--strict')
  expect([strict.exit, strict.stderr]).toEqual([6, expect.stringContaining(MISSING)])

  listing.refused.clear()
  expect((await run()).exit).toBe(0)
  const complete = await command('convert', output, '--to', 'generic', '--strict')
  expect([complete.exit, complete.stderr]).toEqual([0, expect.not.stringContaining('refused')])
  expect((await command('verify', output)).stdout).toContain(': OK (')
  expect(JSON.parse((await command('verify', output, '--json')).stdout)).toMatchObject({ refusedWallets: [] })
})

/** Paths of the transactions files, and the modification time of the first one. */
function filesOf(output: string) {
  const { tables, coverage } = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8'))
  const paths = tables.transactions.files.map(({ path }: { path: string }) => path)
  return { paths, coverage, firstWritten: statSync(join(output, paths[0])).mtimeMs }
}

test('later runs continue the export while the service refuses the same wallet', {
  tags: ['long'],
}, async () => {
  const listing = await startRefusing(404)
  const output = join(tempFolder(), 'mine')
  const args = ['--chain', '43114', '--address', ALICE, '--address', BOB, '--base-url', listing.url]
  const run = async () => (await runCommand(['run', ...args, '--output', output])).exit
  expect(await run()).toBe(6)
  const first = filesOf(output)
  expect(await run()).toBe(6)
  expect(filesOf(output)).toEqual(first)

  Object.assign(listing.listing, {
    transfers: [...BOTH, ...transfersTo(ALICE, 20, { from: 1_130, startMs: 1_700_000_400_000 })],
    head: 1_149,
  })
  expect(await run()).toBe(6)
  const continued = filesOf(output)
  expect(continued.firstWritten).toBe(first.firstWritten)
  expect(continued.paths).toEqual([...first.paths, expect.any(String)])
  expect(continued.coverage).toEqual([
    expect.objectContaining({ address: ALICE, toBlock: 1_150, transactions: 140 }),
    expect.objectContaining({ address: BOB, toBlock: 0, transactions: 0, error: expect.any(String) }),
  ])
  expect((await runCommand(['verify', output])).exit).toBe(0)

  // A reorg in the lookback: its blocks are written again although a wallet is refused.
  listing.listing.transfers = listing.listing.transfers.filter(({ block }) => block !== 1_140)
  expect(await run()).toBe(6)
  expect(filesOf(output).coverage[0]).toMatchObject({ transactions: 139 })

  listing.refused.clear()
  expect(await run()).toBe(0)
  expect(filesOf(output).coverage).toEqual([
    expect.objectContaining({ address: ALICE, transactions: 139 }),
    expect.objectContaining({ address: BOB, toBlock: 1_150, transactions: 30 }),
  ])
  expect((await runCommand(['verify', output])).exit).toBe(0)
  listing.refused.set(BOB, 403)
  expect(await run()).toBe(6)
  const refusedLater = filesOf(output)
  expect(refusedLater.coverage[1]).toMatchObject({ transactions: 30, error: expect.any(String) })
  expect(await run()).toBe(6)
  expect(filesOf(output)).toEqual(refusedLater)
  expect((await runCommand(['verify', output])).exit).toBe(0)
})

test('a 403 about a quota does not mark a wallet as refused: the run exits with 5 and can be resumed', async () => {
  const listing = await startRefusing(403)
  listing.listing.refusal = 'monthly quota exceeded'
  const output = join(tempFolder(), 'mine')
  const args = ['--chain', '43114', '--address', ALICE, '--address', BOB, '--base-url', listing.url]
  const ran = await runCommand(['run', ...args, '--output', output])
  expect([ran.exit, ran.stderr]).toEqual([5, expect.stringContaining('RATE_LIMITED')])
})

test('rows() yields the rows of the other wallets before it reports the refused ones', async () => {
  const listing = await startRefusing(403)
  const service = { baseUrl: listing.url, apiKeyHeader: 'x-service-api-key', timeoutMs: 120_000 }
  const job = testJob({ addresses: [ALICE, BOB], output: tempFolder(), endBlock: undefined, service })
  let count = 0
  const readAll = async () => {
    for await (const _ of rows(job, 'transactions', { apiKey: 'key' })) count += 1
  }
  await expect(readAll()).rejects.toMatchObject({
    code: 'WALLETS_REFUSED',
    message: expect.stringContaining(BOB),
  })
  expect(count).toBe(120)
})
