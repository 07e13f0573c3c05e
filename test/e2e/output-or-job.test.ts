import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../../src/run/run.ts'
import { createDataService } from '../../src/service/create-data-service.ts'
import { runCommand } from '../helpers/command.ts'
import { testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { truthWallets } from '../helpers/truth.ts'

const service = createDataService()

/** An export of the demo chain without run reports, and a job file that has it as its output. */
async function exported({ baseUrl = 'demo' } = {}) {
  const folder = tempFolder()
  const output = join(folder, 'out')
  const addresses = truthWallets.slice(0, 2)
  await run([testJob({ addresses, output })])
  rmSync(join(output, 'runs'), { recursive: true })
  const job = join(folder, 'mine.json')
  writeFileSync(job, JSON.stringify({ chain: 43114, addresses, output, service: { baseUrl } }))
  return { folder, output, job }
}

function writeReport(output: string, name: string, report: object): void {
  mkdirSync(join(output, 'runs'), { recursive: true })
  writeFileSync(join(output, 'runs', name), JSON.stringify(report))
}

test.for([
  { command: 'verify', args: [], says: 'good (' },
  { command: 'compact', args: [], says: 'nothing to merge' },
  { command: 'audit', args: ['--sample', '3'], says: 'good by 3 blocks' },
  { command: 'reindex', args: ['--dry-run'], says: 'without metadata' },
])('$command takes a job file for the output of that job', async ({ command, args, says }) => {
  const { output, job } = await exported()
  const { exit, stdout, stderr } = await runCommand([command, job, ...args])
  expect(stderr).toBe('')
  expect(stdout).toContain(`${output}: `)
  expect(stdout).toContain(says)
  expect(exit).toBe(0)
})

test('load takes a job file, a folder and the manifest in it', async () => {
  const { folder, output, job } = await exported()
  const to = `sqlite:${join(folder, 'lake.sqlite')}`
  expect((await runCommand(['load', job, '--to', to])).stdout).toContain('transactions: ')
  for (const from of [output, join(output, 'manifest.json')]) {
    const { exit, stdout } = await runCommand(['load', from, '--to', to])
    expect([exit, stdout]).toEqual([0, expect.stringContaining('nothing new')])
  }
})

test.for(['verify', 'compact', 'audit', 'reindex', 'load'])(
  '%s says that there is neither folder nor job file',
  async (command) => {
    const args = command === 'load' ? ['--to', 'sqlite:x.db'] : []
    const { exit, stderr } = await runCommand([command, 'output/nowhere', ...args])
    expect(stderr).toMatch(/^USAGE: there is no output folder or job file output\/nowhere\nfix: .+\n$/)
    expect(exit).toBe(2)
  },
)

test.for(['verify', 'load', 'audit'])('%s complains of a job file by line and column', async (command) => {
  const { folder } = await exported()
  const bad = join(folder, 'bad.yaml')
  writeFileSync(bad, 'chain: 43114\naddresses: [nobody]\n')
  const args = command === 'load' ? ['--to', `sqlite:${join(folder, 'x.db')}`] : []
  const { exit, stderr } = await runCommand([command, bad, ...args])
  expect(stderr).toContain(`JOB_INVALID: ${bad}:2:13: addresses[0]: `)
  expect(exit).toBe(2)
})

test.for(['audit', 'reindex'])('%s of an output asks the service of its newest run', async (command) => {
  const { output } = await exported()
  const { url, asked } = await startLoopback(service)
  const args = command === 'audit' ? ['--sample', '2'] : ['--older-than', '1s']
  const named = (baseUrl: string) => ({ service: { baseUrl, apiKeyHeader: 'x-my-key' } })
  writeReport(output, '29981231T000000Z-aaaaaa.json', named('http://127.0.0.1:9'))
  writeReport(output, '29991231T000000Z-aaaaaa.json', named(url))
  writeReport(output, '29991231T000001Z-aaaaaa.json', { run: 'of an earlier version' })
  const { exit, stderr } = await runCommand([command, output, ...args], { WALLETLAKE_API_KEY: 'a-key' })
  expect(stderr).toContain(`asking ${url}, the service of the last run\n`)
  expect(exit).toBe(0)
  expect(asked[0]?.headers['x-my-key']).toBe('a-key')
})

test('options and environment come before the service of the last run', async () => {
  const { output } = await exported()
  const { url, asked } = await startLoopback(service)
  writeReport(output, '29991231T000000Z-aaaaaa.json', {
    service: { baseUrl: 'http://127.0.0.1:9', apiKeyHeader: 'x-my-key' },
  })
  const args = ['audit', output, '--sample', '2']
  expect((await runCommand([...args, '--base-url', url])).exit).toBe(0)
  expect((await runCommand(args, { WALLETLAKE_BASE_URL: url })).exit).toBe(0)
  expect(asked.length).toBeGreaterThan(0)
})

test('an output without reports of a service is audited once one is named', async () => {
  const { output } = await exported()
  for (const name of ['29991231T000000Z-aaaaaa.json', 'notes.json']) writeReport(output, name, { service: 5 })
  const { exit, stderr } = await runCommand(['audit', output])
  expect(stderr).toMatch(/^USAGE: no service is named\nfix: Set --base-url .* or name the job file/)
  expect(exit).toBe(2)
})
