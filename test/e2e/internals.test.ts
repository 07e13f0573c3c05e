import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { run } from '../../src/export/run.ts'
import { reconcileOutput } from '../../src/verify/reconcile/reconcile.ts'
import { runCommand } from '../helpers/command.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readCsvTable, readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import {
  CONTRACT,
  jobOf,
  RECEIVER,
  RECEIVERS,
  refuseWith,
  rowsOf,
  SMALL,
  startQuirky,
  TABLES,
} from './internals-job.ts'

/** Runs a job, and reconciles the native coin of its wallets. */
async function reconcileCoin(job: Job) {
  expect((await run([job])).code).toBeUndefined()
  const { rows, wallets } = await reconcileOutput(job.output, { service: job.service })
  return { wallets, coins: rows.filter(({ asset_type }) => asset_type === 'native') }
}

test('reconcile recommends the listing of internal transactions where receipts are missing', async () => {
  const { coins } = await reconcileCoin(
    jobOf(await startQuirky(), { addresses: RECEIVERS, internals: 'listing' }),
  )
  expect(coins.map(({ wallet_address }) => wallet_address)).toEqual([...RECEIVERS].sort())
  for (const { difference, likely_cause } of coins) {
    expect(difference > 0n).toBe(true)
    expect(likely_cause).toContain('set internals: full in the job and run it with --fresh')
  }
})

test('with it every wallet is reconciled', { tags: ['long'] }, async () => {
  const job = jobOf(await startQuirky(), { addresses: demoWallets })
  expect(await reconcileCoin(job)).toMatchObject({ coins: [], wallets: { nativeReconciled: 53 } })
  await expectValid(job.output)
  expect(readManifest(job.output).job.internals).toBe('full')
})

test('writes the rows of a listing that lacks nothing, at one more request per 100 entries', {
  tags: ['long'],
}, async () => {
  const [listed, both] = [await startLoopback(createDataService()), await startLoopback(createDataService())]
  const [listingJob, fullJob] = [jobOf(listed, { internals: 'listing' }), jobOf(both)]
  await run([listingJob])
  await run([fullJob])
  const files = ({ output }: Job) =>
    Object.entries(outputBytes(output)).filter(([path]) => TABLES.some((table) => path.startsWith(table)))
  expect(files(fullJob)).toEqual(files(listingJob))
  expect(readManifest(listingJob.output).job).not.toHaveProperty('internals')
  const lacking = jobOf(await startQuirky())
  await run([lacking])
  expect(await rowsOf(lacking.output)).toEqual(await rowsOf(listingJob.output))
  const internals = both.requests.filter(({ path }) => path.endsWith('/transactions:listInternals'))
  expect(both.requests.filter(({ path }) => path.endsWith('/transactions'))).toHaveLength(
    listed.requests.length,
  )
  expect(both.requests).toHaveLength(listed.requests.length + internals.length)
  const entries = (await readCsvTable(fullJob.output, 'internal_transactions')).filter(
    ({ from_address, to_address }) => from_address === CONTRACT || to_address === CONTRACT,
  )
  expect(internals.length).toBeLessThanOrEqual(SMALL.length + 3 + Math.ceil(entries.length / 90))
})

test('neither increments nor the number of readers change the rows', {
  tags: ['long'],
}, async () => {
  const calm = jobOf(await startQuirky(), { concurrency: 1 })
  await run([calm])
  let head = 250
  const [growing, atOnce] = [
    jobOf(await startQuirky({ head: () => head }), { endBlock: undefined }),
    jobOf(await startQuirky(), { endBlock: undefined }),
  ]
  for (head of [250, 300, 420]) expect((await run([growing])).code).toBeUndefined()
  await run([atOnce])
  await expectValid(growing.output)
  expect(await rowsOf(growing.output)).toEqual(await rowsOf(atOnce.output))
  expect(await rowsOf(atOnce.output)).toEqual(await rowsOf(calm.output))
})

test.for([420, undefined])(
  'an export is not continued with another setting, but made anew with --fresh (endBlock %s)',
  async (endBlock) => {
    const service = await startQuirky()
    const fields = { addresses: [RECEIVER], endBlock }
    const [job, whole] = [jobOf(service, fields), jobOf(service, fields)]
    await run([whole])
    const settings = ['listing', 'full', 'listing'] as const
    for (const [at, internals] of settings.entries()) {
      const [previous, changed] = [settings[at - 1], { ...job, internals }]
      if (previous !== undefined) {
        const before = outputBytes(job.output)
        const { error } = (await run([changed])).jobs[0] ?? {}
        expect(error?.code).toBe('OUTPUT_CHANGED')
        expect(error?.message).toContain(`internals was ${previous} and is ${internals}`)
        expect(error?.fix).toContain('--fresh')
        expect(outputBytes(job.output)).toEqual(before)
      }
      expect((await run([changed], { fresh: true })).code).toBeUndefined()
      if (internals === 'full') expect(outputBytes(job.output)).toEqual(outputBytes(whole.output))
    }
  },
)

test('an unfinished run is not resumed with another setting', async () => {
  const job = jobOf(await startQuirky(), { concurrency: 1 })
  expect((await run([job], { maxRequests: 10 })).code).toBe('BUDGET_REACHED')
  const { error } = (await run([{ ...job, internals: 'listing' }])).jobs[0] ?? {}
  expect(error?.code).toBe('OUTPUT_CHANGED')
  expect(error?.message).toContain('an unfinished run of another job: internals was full and is listing')
})

test('a service without the listing, or without details, does not lose receipts silently', async () => {
  const noListing = await startQuirky({}, ({ path }) =>
    path.includes(':listInternals') ? refuseWith() : undefined,
  )
  const refused = await run([jobOf(noListing)])
  expect(refused.jobs[0]?.error).toMatchObject({ code: 'REQUEST_REFUSED', status: 404 })
  expect(refused.jobs[0]?.error?.message).toContain('internal transactions of wallet')
  const noDetails = await startQuirky({}, ({ path }) =>
    /transactions\/0x/.test(path) ? refuseWith() : undefined,
  )
  const job = jobOf(noDetails)
  const { code } = await run([job])
  // The wallets that need no details are exported.
  expect(code).toBe('WALLETS_REFUSED')
})

test('plan counts the requests of both listings', async () => {
  const output = join(tempFolder(), 'output')
  const { stdout } = await runCommand([
    'plan',
    '--chain',
    '43114',
    '--address',
    RECEIVER,
    '--internals',
    'full',
    '--base-url',
    'demo',
    '--output',
    output,
  ])
  expect(stdout).toContain('at least 2 requests')
  expect(stdout).toContain('internals')
})
