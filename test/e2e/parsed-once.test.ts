import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { startCommand } from '../helpers/command.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const PRELOAD = new URL('../helpers/count-parsed-preload.js', import.meta.url).href
const WALLET = '0x0000000000000000000000000000000000001000'

/** A service of the benchmarks with one wallet that has more transactions than a run handles without a thread. */
async function startService(script: string, argument: string): Promise<string> {
  const child = spawn(process.execPath, [fileOf(`../bench/${script}`), argument], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill())
  return String((await once(child.stdout, 'data'))[0]).trim()
}

/** Exports the wallet. Returns how many bytes were received, and what the threads of the program have parsed. */
async function exportWallet(job: object, url: string, transactions: number) {
  const folder = tempFolder()
  const [file, log] = [join(folder, 'job.json'), join(folder, 'parsed.log')]
  writeFileSync(file, JSON.stringify({ chain: '43114', addresses: [WALLET], ...job }))
  const args = ['run', file, '--base-url', url, '--output', join(folder, 'out'), '--json']
  const env = { NODE_OPTIONS: `--import=${PRELOAD}`, PARSED_LOG: log }
  const { stdout } = await startCommand(args, env).ended
  const [report] = (JSON.parse(stdout) as { jobs: { transactions: number; bytes: number }[] }).jobs
  expect(report?.transactions).toBe(transactions)
  const entries = readFileSync(log, 'utf8').trim().split('\n')
  const noted = entries.map((entry) => JSON.parse(entry) as { thread?: number; parsed?: number })
  return {
    received: report?.bytes ?? 0,
    parsed: noted.reduce((sum, { parsed = 0 }) => sum + parsed, 0),
    threads: noted.filter(({ thread }) => thread !== undefined).length,
  }
}

test('each byte of an explorer is parsed once, by one thread besides the first', async () => {
  const url = await startService('explorer-service.js', '1500')
  const job = { endBlock: 500, service: { api: 'etherscan' } }
  const { received, parsed, threads } = await exportWallet(job, url, 1_500)
  expect(received).toBeGreaterThan(2_000_000)
  expect(parsed / received).toBeLessThan(1.02)
  expect(threads).toBe(2)
})

test('each byte of the Data API is parsed once, besides those that arrive before the thread starts', async () => {
  const transactions = 2_000
  const url = await startService('synthetic-service.js', JSON.stringify({ dataset: 'dense', transactions }))
  const { received, parsed, threads } = await exportWallet({ endBlock: transactions }, url, transactions)
  const beforeThread = 1_000_000
  expect(received).toBeGreaterThan(3 * beforeThread)
  expect(parsed).toBeLessThan(1.02 * received + 1.3 * beforeThread)
  expect(threads).toBe(2)
})

/** Makes V8 print which optimized code it discards. */
const TRACE = "import { setFlagsFromString } from 'node:v8'; setFlagsFromString('--trace-deopt')"

test('collections of garbage do not discard optimized code', { tags: ['long'] }, async () => {
  const url = await startService('explorer-service.js', '30000')
  const folder = tempFolder()
  const file = join(folder, 'job.json')
  const service = { api: 'etherscan' }
  writeFileSync(file, JSON.stringify({ chain: '43114', addresses: [WALLET], endBlock: 10_000, service }))
  const args = ['run', file, '--base-url', url, '--output', join(folder, 'out'), '--quiet']
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(TRACE)}` }
  const { exit, stdout } = await startCommand(args, env).ended
  expect(exit).toBe(0)
  const discarded = stdout.match(/SharedFunctionInfo .*weak objects/g) ?? []
  // 40 of them when often-used objects were spread or instances with fields, whose shapes V8 forgets.
  expect(stdout).toContain('deoptimiz')
  expect(discarded.length).toBeLessThan(25)
})
