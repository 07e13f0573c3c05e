import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { run } from '../../src/export/run.ts'
import { runCommand } from '../helpers/command.ts'
import { testJob, writeJobFile } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const service = createDataService({ quirks: ['compute-units'] })
const addresses = demoWallets.slice(0, 3)

const writeJob = (url: string, quota: object = {}) =>
  writeJobFile('metered', {
    concurrency: 1,
    addresses,
    startBlock: 0,
    endBlock: 421,
    fees: 'listed',
    service: { baseUrl: url, ...quota },
  })

test('a daily budget ends runs until the next day, and a later run resumes with the same bytes', {
  tags: ['long'],
}, async () => {
  const { url, requests } = await startLoopback(service)
  const output = tempFolder()
  const jobWith = (perDay: number, folder = output) =>
    testJob({
      addresses,
      output: folder,
      fees: 'listed',
      concurrency: 1,
      service: { baseUrl: url, computeUnitsPerDay: perDay },
    })
  const first = await run([jobWith(70)])
  expect(first.code).toBe('BUDGET_REACHED')
  expect(first.jobs[0]?.error?.fix).toMatch(/^Run the same command again after \d{4}-\d\d-\d\d 00:00 UTC/)
  expect(first.jobs[0]?.stats).toMatchObject({ requests: 3, computeUnits: 60 })
  const second = await run([jobWith(70)])
  expect([second.code, second.jobs[0]?.stats.requests, requests.length]).toEqual(['BUDGET_REACHED', 0, 3])
  const third = await run([jobWith(1_000_000)])
  expect(third.code).toBeUndefined()
  const whole = tempFolder()
  expect((await run([jobWith(1_000_000, whole)])).code).toBeUndefined()
  expect(outputBytes(output)).toEqual(outputBytes(whole))
})

test('plan, summary, report and metrics state compute units', async () => {
  const { url } = await startLoopback(service)
  const { job, folder } = writeJob(url, { tier: 'pro' })
  const before = (await runCommand(['plan', job, '--reconcile'])).stdout
  expect(before).toContain('\n  quota  at least 3 requests; how many more is unknown until the first page\n')
  expect(before).toContain('\n  units  at least 60 compute units\n')
  expect(before).toContain('\n  time   at least 180 ms at 20,000 units a minute (tier pro)\n')
  expect(before).toContain('\n  check  at least 3 requests (60 compute units) to reconcile\n')
  expect((await runCommand(['plan', job, '--fees', 'auto'])).stdout).toContain(
    '\n  fees   at most 2,005 more requests: 5 probes, then details\n',
  )
  const metrics = join(folder, 'metrics.prom')
  const ran = await runCommand(['run', job, '--json', '--metrics-file', metrics])
  expect(ran.exit).toBe(0)
  const [summary] = JSON.parse(ran.stdout).jobs
  expect(summary.computeUnits).toBe(20 * summary.requests)
  expect(Object.values(summary.computeUnitsByDay)).toEqual([summary.computeUnits])
  expect(readFileSync(metrics, 'utf8')).toContain(
    `walletlake_last_run_compute_units{job="metered"} ${summary.computeUnits}\n`,
  )
  const planned = (await runCommand(['plan', job, '--reconcile'])).stdout
  const [, predicted = ''] = /check {2}at least ([\d,]+) request/.exec(planned) ?? []
  expect(Number(predicted.replaceAll(',', ''))).toBeGreaterThan(3)
})

test('the limit on requests includes those of the reconciliation', async () => {
  const { url, requests } = await startLoopback(createDataService())
  const { job } = writeJob(url)
  expect((await runCommand(['run', job])).exit).toBe(0)
  const { stdout } = await runCommand(['plan', job, '--reconcile'])
  expect(stdout).toContain('complete')
  const sent = requests.length
  const ran = await runCommand(['run', job, '--reconcile', '--max-requests', '2'])
  expect([ran.exit, requests.length - sent]).toEqual([9, 2])
  expect(ran.stderr).toContain('BUDGET_REACHED: ')
})
