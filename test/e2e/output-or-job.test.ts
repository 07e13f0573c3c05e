import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { runCommand } from '../helpers/command.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { writeJobFile } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { demoWallets } from '../helpers/node-data.ts'

const service = createDataService()

/** An export of the demo chain without run reports, and a job file with that output. */
async function exported({ baseUrl = 'demo' } = {}) {
  const addresses = demoWallets.slice(0, 2)
  const written = writeJobFile('mine', { addresses, service: { baseUrl } })
  await exportDemo(written.output, { addresses, endBlock: 60 })
  rmSync(join(written.output, 'runs'), { recursive: true })
  return written
}

function writeReport(output: string, name: string, report: object): void {
  mkdirSync(join(output, 'runs'), { recursive: true })
  writeFileSync(join(output, 'runs', name), JSON.stringify(report))
}

test.for([
  { command: 'verify', args: [], says: 'OK (' },
  { command: 'compact', args: [], says: 'nothing to merge' },
  { command: 'audit', args: ['--sample', '3'], says: 'OK by 3 blocks' },
  { command: 'reindex', args: ['--dry-run'], says: 'without metadata' },
])('$command accepts a job file in place of its output', async ({ command, args, says }) => {
  const { output, job } = await exported()
  const { exit, stdout, stderr } = await runCommand([command, job, ...args])
  expect(stderr).toBe('')
  expect(stdout).toContain(`${output}: `)
  expect(stdout).toContain(says)
  expect(exit).toBe(0)
})

test('load accepts a job file, a folder and its manifest', async () => {
  const { folder, output, job } = await exported()
  const to = `sqlite:${join(folder, 'lake.sqlite')}`
  expect((await runCommand(['load', job, '--to', to, '--tables', 'transactions'])).stdout).toContain(
    'transactions: ',
  )
  for (const from of [output, join(output, 'manifest.json')]) {
    const { exit, stdout } = await runCommand(['load', from, '--to', to, '--tables', 'transactions'])
    expect([exit, stdout]).toEqual([0, expect.stringContaining('nothing new')])
  }
})

test.for(['verify', 'compact', 'audit', 'reindex', 'load'])(
  '%s reports that there is neither a folder nor a job file',
  async (command) => {
    const args = command === 'load' ? ['--to', 'sqlite:x.db'] : []
    const { exit, stderr } = await runCommand([command, 'output/nowhere', ...args])
    expect(stderr).toMatch(/^USAGE: there is no output folder or job file output\/nowhere\nfix: .+\n$/)
    expect(exit).toBe(2)
  },
)

test.for(['verify', 'load', 'audit'])(
  '%s reports an invalid job file with line and column',
  async (command) => {
    const { folder } = await exported()
    const bad = join(folder, 'bad.yaml')
    writeFileSync(bad, 'chain: 43114\naddresses: [nobody]\n')
    const args = command === 'load' ? ['--to', `sqlite:${join(folder, 'x.db')}`] : []
    const { exit, stderr } = await runCommand([command, bad, ...args])
    expect(stderr).toContain(`JOB_INVALID: ${bad}:2:13: addresses[0]: `)
    expect(exit).toBe(2)
  },
)

const ARGS: Record<string, string[]> = { audit: ['--sample', '2'], reindex: ['--older-than', '1s'] }
const KEY = { WALLETLAKE_API_KEY: 'a-key' }

/** An export whose run reports contain this URL, as if it came from someone else. */
async function handedOver(baseUrl: string): Promise<string> {
  const { output } = await exported()
  const named = (url: string) => ({ service: { baseUrl: url, apiKeyHeader: 'x-my-key' } })
  writeReport(output, '29981231T000000Z-aaaaaa.json', named('http://127.0.0.1:9'))
  writeReport(output, '29991231T000000Z-aaaaaa.json', named(baseUrl))
  writeReport(output, '29991231T000001Z-aaaaaa.json', { run: 'of an earlier version' })
  writeReport(output, '29991231T000002Z-aaaaaa.json', named('http://user:pass@127.0.0.1:9'))
  return output
}

test.for(Object.keys(ARGS))('without a key, %s uses the service of the newest run', async (command) => {
  const { url, requests } = await startLoopback(service)
  const { exit, stderr } = await runCommand([command, await handedOver(url), ...(ARGS[command] ?? [])])
  expect(stderr).toContain(`using ${url}, the service of the last run\n`)
  expect(exit).toBe(0)
  expect(requests.length).toBeGreaterThan(0)
})

test.for(Object.keys(ARGS))('%s sends no key to a URL that only the export contains', async (command) => {
  const { url, requests } = await startLoopback(service)
  const { exit, stderr } = await runCommand([command, await handedOver(url), ...(ARGS[command] ?? [])], KEY)
  expect(stderr).toMatch(`USAGE: only the export names ${url}; the API key is not sent there\nfix: `)
  expect(stderr).toContain(`add --base-url ${url}`)
  expect([exit, requests]).toEqual([2, []])
})

test.for(Object.keys(ARGS))('%s sends the key to the URL of --base-url', async (command) => {
  const { url, requests } = await startLoopback(service)
  const args = [command, await handedOver(url), ...(ARGS[command] ?? []), '--base-url', `${url}/`]
  expect((await runCommand(args, KEY)).exit).toBe(0)
  expect(requests[0]?.headers['x-my-key']).toBe('a-key')
})

test('does not use the key header of an export for another API', async () => {
  const { url, requests } = await startLoopback(service)
  const output = await handedOver('http://127.0.0.1:9')
  expect((await runCommand(['audit', output, '--sample', '2', '--base-url', url], KEY)).exit).toBe(0)
  expect(requests[0]?.headers).toMatchObject({ 'x-service-api-key': 'a-key' })
  expect(requests[0]?.headers).not.toHaveProperty('x-my-key')
})

test('options and environment take precedence over the service of the last run', async () => {
  const { output } = await exported()
  const { url, requests } = await startLoopback(service)
  writeReport(output, '29991231T000000Z-aaaaaa.json', {
    service: { baseUrl: 'http://127.0.0.1:9', apiKeyHeader: 'x-my-key' },
  })
  const args = ['audit', output, '--sample', '2']
  expect((await runCommand([...args, '--base-url', url])).exit).toBe(0)
  expect((await runCommand(args, { WALLETLAKE_BASE_URL: url })).exit).toBe(0)
  expect(requests.length).toBeGreaterThan(0)
})

test('an output without run reports can be audited with --base-url', async () => {
  const { output } = await exported()
  for (const name of ['29991231T000000Z-aaaaaa.json', 'notes.json']) writeReport(output, name, { service: 5 })
  const { exit, stderr } = await runCommand(['audit', output])
  expect(stderr).toMatch(/^USAGE: no service is named\nfix: Set --base-url .* or name the job file/)
  expect(exit).toBe(2)
})
