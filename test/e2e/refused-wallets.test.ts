import { readFileSync } from 'node:fs'
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
  const service = { baseUrl: listing.url }
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
