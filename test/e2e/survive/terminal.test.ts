import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type CommandResult, runCommand } from '../../helpers/command.ts'
import { faultWhere, respondWith } from '../../helpers/faults.ts'
import { service } from '../../helpers/faulty-run.ts'
import { type Fault, startLoopback } from '../../helpers/loopback.ts'
import { demoWallets } from '../../helpers/node-data.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'
import { testSample } from '../../helpers/test-sample.ts'
import { HOSTILE_TEXTS, hostileNames, UNPRINTABLE } from '../../helpers/untrusted-text.ts'

/** Text that a job may contain but a terminal must not print: C1 controls, direction marks, line separators. */
const SLY = '\u009b31m\u202egnp\u2028\u200bend'
const EVIL = `\u001b[2J\u001b]0;gotcha\u0007${SLY}`

/** Writes a job file whose names contain terminal control sequences. */
function writeEvilJob(fields: object = {}) {
  const folder = join(tempFolder(), `in ${SLY}`)
  mkdirSync(folder)
  const job = join(folder, `job ${EVIL}.json`)
  const addresses = demoWallets
    .slice(39, 42)
    .map((address) => ({ address, label: `mine \u009b31m\u202e${address.slice(-2)}` }))
  const base = { name: 'evil', chain: '43114', endBlock: 421, addresses, output: join(folder, 'out') }
  writeFileSync(job, JSON.stringify({ ...base, ...fields }))
  return { job, output: join(folder, 'out') }
}

function expectPrintable({ stdout, stderr }: CommandResult): void {
  const plain = (text: string) => text.replaceAll('\n', '')
  expect(UNPRINTABLE.exec(plain(stdout))).toBeNull()
  expect(UNPRINTABLE.exec(plain(stderr))).toBeNull()
}

const evilErrors: Fault = faultWhere(
  ({ count }) => count > 1,
  respondWith(
    400,
    JSON.stringify({ message: [...HOSTILE_TEXTS.slice(0, -1), EVIL], statusCode: 400, error: EVIL }),
  ),
)

testSample(
  4,
  [
    { what: 'validating', command: (job: string) => ['validate', job] },
    { what: 'planning', command: (job: string) => ['plan', job] },
    { what: 'showing the status of', command: (job: string) => ['status', job] },
    { what: 'running', command: (job: string) => ['run', job] },
    { what: 'running, verbose, ', command: (job: string) => ['run', job, '--verbose', '--concurrency', '1'] },
    {
      what: 'running, with a JSON summary,',
      command: (job: string) => ['run', job, '--json', '--log-format', 'json'],
    },
    { what: 'rejecting an option of', command: (job: string) => ['run', job, `--${EVIL}`] },
  ],
  '$what a job with hostile names prints no control sequences',
  async ({ command }) => {
    for (const fault of [faultWhere(() => true, hostileNames), evilErrors]) {
      const { url } = await startLoopback(service, fault)
      const { job } = writeEvilJob()
      const ended = await runCommand([...command(job), '--base-url', url])
      expectPrintable(ended)
      expect(ended.stderr).not.toContain('JOB_INVALID: ')
      expect(ended.stdout + ended.stderr).not.toBe('')
    }
  },
)

test('diagnostics of a job file contain no control sequences', async () => {
  const texts = [EVIL, ...HOSTILE_TEXTS.slice(0, -1)]
  const { job } = writeEvilJob({ [EVIL]: EVIL, format: EVIL, addresses: texts, tables: texts, name: EVIL })
  const ended = await runCommand(['validate', job])
  expect(ended.exit).toBe(2)
  expectPrintable(ended)
})

test('problems of hostile files contain no control sequences', { tags: ['long'] }, async () => {
  const { url } = await startLoopback(
    service,
    faultWhere(() => true, hostileNames),
  )
  const { job, output } = writeEvilJob()
  expect((await runCommand(['run', job, '--base-url', url, '--quiet'])).exit).toBe(0)
  const good = await runCommand(['verify', output])
  expect(good.exit).toBe(0)
  expectPrintable(good)
  for (const table of ['ledger', 'transactions', 'erc20_transfers']) {
    const [name = ''] = readdirSync(join(output, table))
    const text = readFileSync(join(output, table, name), 'utf8')
    writeFileSync(join(output, table, name), `${text}${EVIL},"\u0000${EVIL}"\n`)
  }
  const manifest = readFileSync(join(output, 'manifest.json'), 'utf8')
  writeFileSync(
    join(output, 'manifest.json'),
    manifest.replace(/"sha256": "/, `"sha256": "${EVIL.slice(-9)}`),
  )
  const bad = await runCommand(['verify', output])
  expect(bad.exit).toBe(10)
  expectPrintable(bad)
})

test('untrusted text in the JSON summary is complete and escaped', async () => {
  const { url } = await startLoopback(service, evilErrors)
  const { job, output } = writeEvilJob()
  const { stdout } = await runCommand(['run', job, '--json', '--base-url', url])
  expect(JSON.parse(stdout)).toMatchObject({
    exit: 4,
    jobs: [{ output, error: { code: 'REQUEST_REFUSED' } }],
  })
})
