import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { runCommand } from '../helpers/command.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { isMissing } from '../helpers/programs.ts'
import { readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const service = createDataService()
const [A = '', B = ''] = demoWallets

test('demo exports the demo wallets from any folder', async () => {
  const cwd = tempFolder()
  const { exit, stdout } = await runCommand(['demo'], {}, { cwd })
  expect(exit).toBe(0)
  expect(stdout).toContain('  7 CSV files in output/demo\n')
  expect(stdout).toContain('demo: 5 of 5 wallets reconciled at block 418,186,472')
  expect(stdout).toContain('Open output/demo/report.html in a browser')
  expect((await runCommand(['verify', 'output/demo'], {}, { cwd })).exit).toBe(0)
  const [, tried = ''] = stdout.split('Try:\n')
  for (const line of tried.trim().split('\n').slice(0, -1)) {
    const words = [...line.replace(/^.*?walletlake /, '').matchAll(/"([^"]*)"|(\S+)/g)]
    const ran = await runCommand(
      words.map(([, quoted, word]) => quoted ?? word ?? ''),
      {},
      { cwd },
    )
    expect({ line, exit: ran.exit }).toEqual({ line, exit: 0 })
  }
  const other = ['demo', '--format', 'parquet', '--tables', 'ledger']
  expect((await runCommand(other, {}, { cwd })).stderr).toContain('start over with --fresh')
})

test('the demo looks like the wallets of a person, by either API', { tags: ['long'] }, async () => {
  const cwd = tempFolder()
  for (const [words, output] of [
    [['demo'], 'output/demo'],
    [['demo', '--api', 'etherscan'], 'output/demo-etherscan'],
  ] as const) {
    const { exit, stdout, stderr } = await runCommand(words, {}, { cwd })
    expect(exit).toBe(0)
    expect(stdout + stderr).not.toMatch(/differ|wrong chain|no transactions|unknown/)
    const { stdout: held } = await runCommand(['balances', output, '--format', 'csv'], {}, { cwd })
    const rows = held.trim().split('\n').slice(1)
    const odd = rows.filter((row) => /=1\+1|<b>|@SUM|claim-arb/.test(row))
    expect([rows.length > 15, odd.length]).toEqual([true, 4])
    expect(odd.filter((row) => !row.includes('Airdrops'))).toEqual([])
    const html = readFileSync(join(cwd, output, 'report.html'), 'utf8')
    expect(html).toContain('Demo portfolio')
  }
})

test('demo writes nothing again, except with --fresh', { tags: ['long'] }, async () => {
  const cwd = tempFolder()
  const demo = (...words: string[]) => runCommand(['demo', '--tables', 'ledger', ...words], {}, { cwd })
  expect((await demo('--format', 'parquet')).exit).toBe(0)
  expect((await demo('--format', 'parquet')).stdout).toContain('demo: already complete')
  expect((await demo('--format', 'csv', '--fresh')).exit).toBe(0)
})

test('run --report writes an HTML report next to each export, even without a ledger', async () => {
  const cwd = tempFolder()
  const words = ['run', '--chain', '43114', '--address', A, '--base-url', 'demo', '--end-block', '60']
  const { exit, stdout } = await runCommand([...words, '--report', '--output', 'mine'], {}, { cwd })
  expect({ exit, last: stdout.trimEnd().split('\n').at(-1) }).toEqual({
    exit: 0,
    last: 'Report: mine/report.html',
  })
  const bare = [...words, '--report', '--output', 'bare', '--tables', 'transactions', '--json']
  const { exit: end, stderr } = await runCommand(bare, {}, { cwd })
  expect({ end, stderr }).toEqual({ end: 0, stderr: expect.stringContaining('Report: bare/report.html') })
  expect(readFileSync(join(cwd, 'bare/report.html'), 'utf8')).toContain('An export without a ledger')
})

test('init writes a job that runs unchanged', { tags: ['long'] }, async () => {
  const cwd = tempFolder()
  const args = ['init', '--chain', '43114', '--address', `${A}=mine`, '--base-url', 'demo']
  expect((await runCommand(args, {}, { cwd })).exit).toBe(0)
  expect((await runCommand(['run', 'jobs/mine.yaml', '--quiet'], {}, { cwd })).exit).toBe(0)
  expect((await runCommand(['verify', 'output/mine'], {}, { cwd })).exit).toBe(0)
})

const TERMINAL_RUNS = [
  { options: '', shows: true, tags: [] },
  { options: '--log-format json', shows: false, tags: ['long'] },
]
for (const { options, shows, tags } of TERMINAL_RUNS)
  test.skipIf(isMissing('script'))(
    `on a terminal, a run with "${options}" prints the next steps: ${shows}`,
    { tags },
    () => {
      const bin = join(import.meta.dirname, '../../dist/bin.js')
      const line = `'${process.execPath}' '${bin}' run --chain 43114 --address ${A} --base-url demo --end-block 5 ${options}`
      const ran = spawnSync('script', ['-qec', line, '/dev/null'], { cwd: tempFolder(), encoding: 'utf8' })
      expect([ran.status, ran.stdout.includes('Next:')]).toEqual([0, shows])
    },
  )

describe('a run without a job file', () => {
  const words = ['run', '--chain', '43114', '--end-block', '100', '--quiet']

  test('is named after its chain and first wallet and accepts labels', async () => {
    const [cwd, { url }] = [tempFolder(), await startLoopback(service)]
    const wallets = ['--address', `${A}=mine`, '--address', B]
    const { exit } = await runCommand([...words, ...wallets, '--base-url', url], {}, { cwd })
    expect(exit).toBe(0)
    const output = join(cwd, 'output', `43114-${A.toLowerCase()}`)
    expect(readManifest(output)).toMatchObject({ job: { chain: '43114', endBlock: 100, addresses: 2 } })
    expect((await runCommand(['verify', output])).exit).toBe(0)
  })

  test('resumes where it stopped if the command is repeated', async () => {
    const [cwd, { url, requests }] = [tempFolder(), await startLoopback(service)]
    const line = [...words, '--address', A, '--name', 'mine', '--base-url', url]
    expect((await runCommand([...line, '--max-requests', '1'], {}, { cwd })).exit).toBe(9)
    expect((await runCommand(line, {}, { cwd })).exit).toBe(0)
    const { length } = requests
    expect((await runCommand(line, {}, { cwd })).exit).toBe(0)
    expect(requests).toHaveLength(length)
    expect(existsSync(join(cwd, 'output', 'mine', 'manifest.json'))).toBe(true)
  })

  test('can be planned after an interruption, with a range of requests', async () => {
    const [cwd, { url }] = [tempFolder(), await startLoopback(service)]
    const options = ['--chain', '43114', '--end-block', '421', '--name', 'mine', '--base-url', url]
    const line = [...options, '--address', A, '--address', B]
    expect((await runCommand(['run', ...line, '--max-requests', '3'], {}, { cwd })).exit).toBe(9)
    const { stdout } = await runCommand(['plan', ...line], {}, { cwd })
    expect(stdout).toMatch(/^mine: unfinished, \d wallets? of 2 to read/)
    expect(stdout).toMatch(
      /^ {2}quota {2}about \d+ requests?, \d+ to \d+ if the rest is up to 4 times as dense$/m,
    )
    expect(stdout).toMatch(/^ {2}time {3}about .+ to .+ requests\/s as in the last run, up to 16 at once$/m)
  })

  test('can be planned with the same options', async () => {
    const [, ...options] = words
    const planned = await runCommand(['plan', ...options.slice(0, -1), '--address', A])
    expect(planned).toMatchObject({ exit: 0, stderr: '' })
    expect(planned.stdout).toContain(`  ${A.toLowerCase()}  blocks [0, 100)`)
  })

  test.for([
    { args: ['--chain', '1'], says: 'USAGE: there is no --address' },
    { args: ['--address', A], says: 'USAGE: there is no --chain' },
    {
      args: ['jobs/examples/demo.yaml', '--address', A],
      says: 'USAGE: --address is for a job without a file',
    },
    { args: ['jobs/examples/demo.yaml', '--name', 'x'], says: 'USAGE: --name is for a job without a file' },
    { args: ['--chain', '1', '--address', '0x12'], says: 'JOB_INVALID: --address: found "0x12"' },
    { args: ['--chain', 'a b', '--address', A], says: 'JOB_INVALID: --chain: found "a b"' },
    { args: ['--chain', '1', '--address', A, '--start-block', 'x'], says: '--start-block: found "x"' },
    { args: ['--chain', '1', '--address', A, '--name', 'A B'], says: 'JOB_INVALID: --name: found "A B"' },
    { args: ['--chain', '1', '--address', `${A}=`], says: 'JOB_INVALID: --address: found ""' },
    { args: ['--chain', '1', '--address', A], says: 'no service is named' },
  ])('exits with 2 and $says', async ({ args, says }) => {
    const { exit, stderr } = await runCommand(
      ['run', ...args],
      {},
      { cwd: join(import.meta.dirname, '..', '..') },
    )
    expect(stderr).toContain(says)
    expect(stderr).toMatch(/^[A-Z_]+: .+\n(.+\n)*fix: .+\n$/)
    expect(exit).toBe(2)
  })
})
