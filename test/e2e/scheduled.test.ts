import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { parseTextfile } from '../cli/monitoring/parse-textfile.ts'
import { startReceiver } from '../cli/monitoring/receiver.ts'
import { runCommand, startCommand } from '../helpers/command.ts'
import { respondWith } from '../helpers/faults.ts'
import { writeJobFile } from '../helpers/jobs.ts'
import { type Fault, startLoopback } from '../helpers/loopback.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { closedUrl } from '../helpers/serve.ts'
import { testSample } from '../helpers/test-sample.ts'

const service = createDataService()
const SECRET = 'b6f1c2d4-secret-uuid'

async function scheduled(fault?: Fault) {
  const { folder, job, output } = writeJobFile('night', { addresses: demoWallets.slice(0, 2) })
  const { url } = await startLoopback(service, fault)
  const metrics = join(folder, 'm.prom')
  return { job, output, metrics, env: { WALLETLAKE_BASE_URL: url } }
}

test('reports a successful run to a ping URL, an OTLP collector and a metrics file', async () => {
  const { job, output, metrics, env } = await scheduled()
  const watcher = await startReceiver()
  const collector = await startReceiver()
  const monitoring = {
    WALLETLAKE_PING_URL: `${watcher.url}/${SECRET}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  }
  const ran = await runCommand(['run', job, '--json', '--metrics-file', metrics], { ...env, ...monitoring })
  expect(ran.exit).toBe(0)
  expect(watcher.received.map(({ url }) => url)).toEqual([`/${SECRET}/start`, `/${SECRET}`])
  const summary = jobIn(ran.stdout)
  expect(summary).toMatchObject({ job: 'night', state: 'complete', exit: 0, endBlock: 421 })
  const parsed = parseTextfile(readFileSync(metrics, 'utf8'))
  expect(parsed.walletlake_last_run_requests?.samples).toEqual([[{ job: 'night' }, summary.requests]])
  expect(parsed.walletlake_export_end_block?.samples).toEqual([[{ job: 'night' }, 421]])
  const rows = parsed.walletlake_export_rows?.samples.map(([{ table }, value]) => [table, value])
  expect(Object.fromEntries(rows ?? [])).toEqual(summary.totalRows)
  expect(namesIn(collector.received[0]?.body ?? '')).toEqual(Object.keys(parsed))
  const written = Object.values(outputBytes(output)).join()
  expect([ran.stdout, ran.stderr, readFileSync(metrics, 'utf8'), written].join()).not.toContain(SECRET)
})

function namesIn(body: string): string[] {
  const { resourceMetrics } = JSON.parse(body) as {
    resourceMetrics: { scopeMetrics: { metrics: { name: string }[] }[] }[]
  }
  return resourceMetrics.flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) => metrics.map(({ name }) => name)),
  )
}

test('keeps the time of the last success after a failed run', { tags: ['long'] }, async () => {
  let away = false
  const { job, metrics, env } = await scheduled(() =>
    away
      ? (response, answer) => void respondWith(404, '{}')(response, answer, undefined as never)
      : undefined,
  )
  const watcher = await startReceiver()
  const run = () => runCommand(['run', job, '--metrics-file', metrics, '--ping', watcher.url], env)
  expect((await run()).exit).toBe(0)
  const before = parseTextfile(readFileSync(metrics, 'utf8'))
  away = true
  expect((await run()).exit).toBe(4)
  const after = parseTextfile(readFileSync(metrics, 'utf8'))
  expect(watcher.received.map(({ url }) => url)).toEqual(['/start', '/', '/start', '/4'])
  expect(after.walletlake_last_run_exit_code?.samples).toEqual([[{ job: 'night' }, 4]])
  for (const name of ['walletlake_last_success_timestamp_seconds', 'walletlake_export_rows'])
    expect(after[name]).toEqual(before[name])
})

test('reports an interrupted run, and counts all rows of the next', { tags: ['long'] }, async () => {
  let child: ReturnType<typeof startCommand> | undefined
  const { job, metrics, env } = await scheduled(({ count }) =>
    count === 4 ? () => void child?.kill('SIGTERM') : undefined,
  )
  const watcher = await startReceiver()
  const args = ['run', job, '--json', '--metrics-file', metrics, '--ping', watcher.url]
  child = startCommand(args, env)
  expect((await child.ended).exit).toBe(143)
  expect(watcher.received.map(({ url }) => url)).toEqual(['/start', '/143'])
  expect(readFileSync(metrics, 'utf8')).not.toContain('last_success')
  const { totalRows } = jobIn((await runCommand(args, env)).stdout)
  expect(jobIn((await runCommand(args, env)).stdout)).toMatchObject({
    state: 'unchanged',
    totalRows,
    endBlock: 421,
  })
  expect(Object.values(totalRows as object).every((count) => count > 0)).toBe(true)
})

function jobIn(stdout: string): Record<string, unknown> {
  return (JSON.parse(stdout) as { jobs: Record<string, unknown>[] }).jobs[0] ?? {}
}

testSample(
  1,
  ['--verbose', '--quiet'],
  'keeps its exit code if monitoring is unreachable, and warns about it: %s',
  async (level) => {
    const { job, metrics, env } = await scheduled()
    const nobody = `${await closedUrl()}/${SECRET}`
    const options = [
      '--ping',
      nobody,
      '--otlp-endpoint',
      nobody,
      '--metrics-file',
      join(metrics, 'no', 'folder'),
    ]
    const ran = await runCommand(['run', job, level, ...options], env)
    expect(ran.exit).toBe(0)
    expect(ran.stderr).toContain('the start ping did not arrive: ECONNREFUSED')
    expect(ran.stderr).toContain('the ping did not arrive: ECONNREFUSED')
    expect(ran.stderr).toContain('the metrics did not arrive: ECONNREFUSED')
    expect(ran.stderr).toContain('no metrics file: ')
    expect(ran.stdout + ran.stderr).not.toContain(SECRET)
  },
)

test('reports a run with an invalid job file', async () => {
  const { job, metrics } = await scheduled()
  const watcher = await startReceiver()
  writeFileSync(job, '{}')
  const ran = await runCommand(['run', job, '--metrics-file', metrics], { WALLETLAKE_PING_URL: watcher.url })
  expect(ran.exit).toBe(2)
  expect(watcher.received.map(({ url }) => url)).toEqual(['/start', '/2'])
  expect(parseTextfile(readFileSync(metrics, 'utf8')).walletlake_exit_code?.samples).toEqual([[{}, 2]])
})

test.for([
  { args: ['--ping', `hc-ping.com/${SECRET}`], env: {}, says: '--ping: found no http' },
  { args: [], env: { WALLETLAKE_PING_URL: `ftp://${SECRET}` }, says: 'WALLETLAKE_PING_URL: found no http' },
  { args: ['--otlp-endpoint', `localhost:4318/${SECRET}`], env: {}, says: '--otlp-endpoint: found no http' },
])('rejects an invalid URL without showing it: $says', async ({ args, env, says }) => {
  const ran = await runCommand(['run', 'jobs/examples/demo.yaml', ...args], env)
  expect(ran).toMatchObject({ exit: 2, stderr: expect.stringContaining(`USAGE: ${says}`) })
  expect(ran.stdout + ran.stderr).not.toContain(SECRET)
})
