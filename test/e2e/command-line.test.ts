import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { runCommand, startCommand } from '../helpers/command.ts'
import { writeJobFile } from '../helpers/jobs.ts'
import { type Fault, send, startLoopback } from '../helpers/loopback.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readManifest } from '../helpers/read-output.ts'
import { serve } from '../helpers/serve.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'

const service = createDataService()

const writeJob = (fields: object = {}) =>
  writeJobFile('two', { endBlock: 100, addresses: demoWallets.slice(0, 2), ...fields })

describe('walletlake', () => {
  test('names its file in its help', async () => {
    const { exit, stdout } = await startCommand(['run', '--help']).ended
    expect([exit, stdout]).toEqual([0, expect.stringContaining('bin.js run [options]')])
  })

  test.for([
    { args: ['rum', 'x.yaml'], says: 'Did you mean run?' },
    { args: ['run'], says: 'no job was named' },
    { args: ['run', 'no-such-job.yaml'], says: 'no-such-job.yaml' },
    { args: ['run', 'no-such-*.yaml'], says: 'no file matches' },
    { args: ['run', 'jobs/examples/demo.yaml', '--format', 'xlsx'], says: '--format' },
    { args: ['run', 'jobs/examples/demo.yaml', '--concurrency', '0'], says: '--concurrency' },
    { args: ['run', 'jobs/examples/demo.yaml', '--max-requests', 'many'], says: '--max-requests' },
    { args: ['run', 'jobs/examples/demo.yaml', '--deadline', 'soon'], says: '--deadline' },
    {
      args: ['run', 'jobs/examples/demo.yaml', 'jobs/examples/blocks.yaml', '--output', 'x'],
      says: '--output names one folder',
    },
    { args: ['run', 'jobs/examples/demo.yaml', '--nonsense'], says: 'nonsense' },
    { args: ['schema', 'ledgers'], says: 'ledgers' },
    { args: ['verify', 'no-such-folder'], says: 'no-such-folder' },
    {
      args: ['validate', 'jobs/examples/demo.yaml', '--tables', 'ledger', '--tables', 'ledgers'],
      says: '"ledgers"',
    },
    { args: ['serve', '--port', 'abc'], says: 'found abc, expected a whole number from 0 to 65535' },
    { args: ['serve', '--port', '65536'], says: 'found 65536, expected a whole number from 0 to 65535' },
  ])('exits with 2 and a fix for: $args', async ({ args, says }) => {
    const { exit, stderr } = await runCommand(args)
    expect(stderr).toMatch(/^(USAGE|JOB_INVALID): /)
    expect(stderr).toContain(says)
    expect(stderr).toMatch(/\nfix: .+\n$/)
    expect(exit).toBe(2)
  })

  test('exports, verifies, plans and shows the status of a job', async () => {
    const { url } = await startLoopback(service)
    const { job, output } = writeJob()
    const env = { WALLETLAKE_BASE_URL: url }
    expect((await runCommand(['plan', job], env)).stdout).toContain('blocks [0, 100)')
    const ran = await runCommand(['run', job], env)
    expect(ran).toMatchObject({ exit: 0 })
    expect(ran.stdout).toContain(`7 CSV files in ${output}`)
    expect((await runCommand(['verify', output])).exit).toBe(0)
    expect((await runCommand(['status', job], env)).stdout).toContain('complete')
    expect((await runCommand(['plan', job], env)).stdout).toContain('0 wallets of 2 to read')
    expect((await runCommand(['run', job], env)).stdout).toContain('already complete')
  })

  test('reports its requests if a job without end has nothing new', { tags: ['long'] }, async () => {
    const { url } = await startLoopback(service)
    const { job, output } = writeJob({ endBlock: undefined })
    const env = { WALLETLAKE_BASE_URL: url }
    expect((await runCommand(['run', job], env)).exit).toBe(0)
    const { stdout } = await runCommand(['run', job], env)
    expect(stdout).toContain(
      `two: nothing new (2 requests)\n  ${output} is complete up to block 420 for each wallet\n`,
    )
  })

  test('reports that --lookback does not apply to a job with an end', async () => {
    const { url } = await startLoopback(service)
    const { stderr } = await runCommand(['run', writeJob().job, '--base-url', url, '--lookback', '5'])
    expect(stderr).toContain(
      'two: the lookback applies only to jobs without endBlock; --fresh reads everything again',
    )
  })

  test('suggests resuming an unfinished output', async () => {
    const { url } = await startLoopback(service)
    const { job, output } = writeJob()
    expect((await runCommand(['run', job, '--base-url', url, '--max-requests', '1'])).exit).toBe(9)
    const { exit, stderr } = await runCommand(['verify', output])
    expect(exit).toBe(10)
    expect(stderr).toContain('the run has not finished\nfix: Run the same job again')
  })

  test('suggests resuming an output whose run ended before its first page', async () => {
    const url = await serve((_, response) => void response.writeHead(401).end())
    const { job, output } = writeJob()
    expect((await runCommand(['run', job, '--base-url', url])).exit).toBe(3)
    expect(readdirSync(output)).toEqual(['runs'])
    const { exit, stderr } = await runCommand(['verify', output])
    expect(exit).toBe(10)
    expect(stderr).toContain('the run has not finished\nfix: Run the same job again')
    expect(JSON.parse((await runCommand(['verify', output, '--json'])).stdout)).toMatchObject({
      finished: false,
    })
  })

  test.runIf(existsSync('/proc/self'))('fails if the output folder cannot be created', async () => {
    const { exit, stderr } = await runCommand([
      'run',
      'jobs/examples/demo.yaml',
      '--output',
      '/proc/walletlake',
    ])
    expect([exit, stderr]).toEqual([7, expect.stringContaining('OUTPUT_FAILED: ')])
  })

  test('prints one JSON summary on stdout and nothing else there', async () => {
    const { url } = await startLoopback(service)
    const { exit, stdout } = await runCommand(['run', writeJob().job, '--json', '--base-url', url])
    expect(JSON.parse(stdout)).toMatchObject({
      exit: 0,
      jobs: [{ job: 'two', state: 'complete', error: null }],
    })
    expect(exit).toBe(0)
  })

  test('runs several job files at once and rejects two with the same output', {
    tags: ['long'],
  }, async () => {
    const { url } = await startLoopback(service)
    const jobs = [writeJob({ name: 'a' }), writeJob({ name: 'b', format: 'parquet' })]
    const both = await runCommand(['run', ...jobs.map(({ job }) => job), '--base-url', url])
    expect(both).toMatchObject({ exit: 0 })
    for (const { output } of jobs) expect((await runCommand(['verify', output])).exit).toBe(0)
    const [first] = jobs
    const clash = await runCommand([
      'run',
      first?.job ?? '',
      writeJob({ output: first?.output }).job,
      '--base-url',
      url,
    ])
    expect(clash.stderr).toContain('same output')
    expect(clash.exit).toBe(2)
  })

  test.for([
    { key: undefined, exit: 3, says: 'KEY_REFUSED' },
    { key: 'wrong-secret-key', exit: 3, says: 'KEY_REFUSED' },
    { key: 'right-secret-key', exit: 0, says: '' },
  ])('exits with $exit for the key $key and never shows it', async ({ key, exit, says }) => {
    const { url } = await startLoopback(createDataService({ keys: ['right-secret-key'] }))
    const { job, output } = writeJob()
    const env = key === undefined ? {} : { WALLETLAKE_API_KEY: key }
    const ran = await runCommand(['run', job, '--base-url', url, '--verbose'], env)
    expect(ran.stderr).toContain(says)
    expect(ran.exit).toBe(exit)
    const written = Object.keys(existsSync(output) ? outputBytes(output) : {}).map((path) =>
      readFileSync(join(output, path), 'utf8'),
    )
    expect([ran.stdout, ran.stderr, ...written].join()).not.toContain('secret-key')
  })

  test('exits with 4 if the service does not know the chain', async () => {
    const { url } = await startLoopback(service)
    const { exit, stderr } = await runCommand(['run', writeJob({ chain: '5' }).job, '--base-url', url])
    expect(stderr).toContain('REQUEST_REFUSED: two: wallet 0x')
    expect(exit).toBe(4)
  })

  test('prints nothing on stderr while many requests wait for a quota', { tags: ['long'] }, async () => {
    const { url } = await startLoopback(createDataService({ quota: { perSecond: 50, burst: 5 } }))
    const { job } = writeJob({ addresses: demoWallets.slice(-24), concurrency: 64 })
    expect(await runCommand(['run', job, '--base-url', url, '--quiet'])).toEqual({
      exit: 0,
      stdout: '',
      stderr: '',
    })
  })

  test('exits with 9 at the budget and completes in the next run', async () => {
    const { url, requests } = await startLoopback(service)
    const { job, output } = writeJob()
    const stopped = await runCommand(['run', job, '--base-url', url, '--max-requests', '3'])
    expect(stopped.stderr).toContain('BUDGET_REACHED')
    expect(stopped.exit).toBe(9)
    expect(requests).toHaveLength(3)
    expect((await runCommand(['status', job])).stdout).toContain('unfinished')
    expect((await runCommand(['run', job, '--base-url', url])).exit).toBe(0)
    expect((await runCommand(['verify', output])).exit).toBe(0)
  })

  test('exits with 9 at the deadline', async () => {
    const hang: Fault = () => () => {}
    const { url } = await startLoopback(service, hang)
    const { exit, stderr } = await runCommand([
      'run',
      writeJob().job,
      '--base-url',
      url,
      '--deadline',
      '500ms',
    ])
    expect(stderr).toContain('BUDGET_REACHED')
    expect(exit).toBe(9)
  })

  const SIGNALS = [
    { signal: 'SIGINT', exit: 130 },
    { signal: 'SIGTERM', exit: 143 },
  ] as const
  testSample(
    1,
    SIGNALS,
    'exits with $exit on $signal, keeps its pages and resumes later',
    async ({ signal, exit }) => {
      let child: ReturnType<typeof startCommand> | undefined
      const late: Fault = ({ count }) => (count === 4 ? () => void child?.kill(signal) : undefined)
      const { url, requests } = await startLoopback(service, late)
      const { job, output } = writeJob({ concurrency: 1, endBlock: 421 })
      child = startCommand(['run', job, '--base-url', url])
      const ended = await child.ended
      expect(ended.exit).toBe(exit)
      const before = requests.length
      expect((await runCommand(['run', job, '--base-url', url])).exit).toBe(0)
      expect((await runCommand(['verify', output])).exit).toBe(0)
      expect(requests.length - before).toBeLessThan(14)
    },
  )

  test('exits with 8 and names the other run while it holds the output', async () => {
    const { job } = writeJob()
    let second: ReturnType<typeof runCommand> | undefined
    const whileRunning: Fault = ({ count }) =>
      count > 1
        ? undefined
        : async (response, answer) => {
            second = runCommand(['run', job, '--base-url', url])
            await second
            send(response, answer)
          }
    const { url } = await startLoopback(service, whileRunning)
    const first = startCommand(['run', job, '--base-url', url])
    expect((await first.ended).exit).toBe(0)
    const refused = await second
    expect(refused?.stderr).toContain(`OUTPUT_LOCKED: two: process ${first.pid}`)
    expect(refused?.exit).toBe(8)
  })

  test('exits with 7 if the output is a file, and with 10 if a row was changed', async () => {
    const { url } = await startLoopback(service)
    const { job, output } = writeJob()
    writeFileSync(output, 'in the way')
    const blocked = await runCommand(['run', job, '--base-url', url])
    expect(blocked.stderr).toContain('OUTPUT_FAILED')
    expect(blocked.exit).toBe(7)
    const other = writeJob()
    expect((await runCommand(['run', other.job, '--base-url', url])).exit).toBe(0)
    const [path = ''] = Object.keys(outputBytes(other.output)).filter((name) => name.startsWith('ledger/'))
    const text = readFileSync(join(other.output, path), 'utf8')
    writeFileSync(join(other.output, path), text.replace(',out,', ',in,'))
    const verdict = await runCommand(['verify', other.output])
    expect(verdict.stderr).toContain('VERIFY_FAILED')
    expect(verdict.exit).toBe(10)
  })

  test('stores raw items on request and creates missing folders', async () => {
    const { url } = await startLoopback(service)
    const { job, output } = writeJob({ keepRaw: true, tables: ['ledger'] })
    mkdirSync(output)
    expect((await runCommand(['run', job, '--base-url', url])).exit).toBe(0)
    expect(Object.keys(outputBytes(output))).toEqual([
      expect.stringContaining('ledger/'),
      'manifest.json',
      ...demoWallets
        .slice(0, 2)
        .sort()
        .map((address) => `raw/${address}.ndjson.gz`),
    ])
  })

  test('prints every table and the job format as JSON', async () => {
    const tables = JSON.parse((await runCommand(['schema'])).stdout) as { tables: { name: string }[] }
    expect(tables.tables).toHaveLength(8)
    expect(JSON.parse((await runCommand(['schema', 'job'])).stdout)).toHaveProperty('properties.addresses')
    expect(JSON.parse((await runCommand(['schema', 'ledger'])).stdout)).toHaveProperty('name', 'ledger')
  })
})

test('runs thirty jobs at once without warnings', { tags: ['long'] }, async () => {
  const folder = tempFolder()
  const names = Array.from({ length: 30 }, (_, at) => `job-${at}`)
  for (const [at, name] of names.entries()) {
    const job = { chain: 43114, endBlock: 421, addresses: [demoWallets[at]], service: { baseUrl: 'demo' } }
    const format = at % 2 === 0 ? 'csv' : 'parquet'
    writeFileSync(join(folder, `${name}.json`), JSON.stringify({ ...job, format }))
  }
  const files = names.map((name) => `${name}.json`)
  const { exit, stderr } = await runCommand(['run', ...files, '--quiet'], {}, { cwd: folder })
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
  const coverage = names.flatMap((name) => readManifest(join(folder, 'output', name)).coverage)
  expect(coverage.map(({ address }) => address)).toEqual(demoWallets.slice(0, names.length))
})
