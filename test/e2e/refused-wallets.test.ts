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
  const ask = (...args: string[]) => runCommand(args)
  const wallets = ['--address', ALICE, '--address', BOB]
  const run = () =>
    ask(
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
  expect([ran.exit, ran.stderr]).toEqual([6, expect.stringContaining('WALLETS_REFUSED')])
  for (const text of [ran.stdout, (await ask('status', output)).stdout]) {
    expect(text).toContain('the service refused 1 wallet and answered the others')
    expect(text).toContain(BOB)
  }
  expect((await ask('verify', output)).exit).toBe(0)
  const database = `sqlite:${join(tempFolder(), 'lake.db')}`
  for (const args of [
    ['balances', output, '--format', 'csv'],
    ['convert', output, '--to', 'generic'],
    ['query', output, 'select count(*) from transactions', '--format', 'csv'],
    ['load', output, '--to', database],
    ['report', output],
  ]) {
    const result = await ask(...args)
    expect([args[0], result.exit, result.stderr]).toEqual([args[0], 0, expect.stringContaining(MISSING)])
  }
  expect(readFileSync(join(output, 'report.html'), 'utf8')).toContain(MISSING)
  const strict = await ask('convert', output, '--to', 'generic', '--strict')
  expect([strict.exit, strict.stderr]).toEqual([6, expect.stringContaining(MISSING)])

  listing.refused.clear()
  expect((await run()).exit).toBe(0)
  const healed = await ask('convert', output, '--to', 'generic', '--strict')
  expect([healed.exit, healed.stderr]).toEqual([0, expect.not.stringContaining('refused')])
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
  const service = { baseUrl: listing.url, apiKeyHeader: 'x-service-api-key', timeoutMs: 5_000 }
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
