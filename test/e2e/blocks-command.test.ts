import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { runCommand } from '../helpers/command.ts'
import { writeJobFile } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const writeJob = (fields: object = {}) =>
  writeJobFile('night', { kind: 'blocks', startBlock: 0, endBlock: 421, ...fields })

test('validates, plans, exports, verifies and shows the status of a block job', {
  tags: ['long'],
}, async () => {
  const { url } = await startLoopback(createDataService())
  const { job, output } = writeJob()
  const env = { WALLETLAKE_BASE_URL: url }
  expect((await runCommand(['validate', job], env)).stdout).toBe(`${job}: OK (chain 43114, 421 blocks)\n`)
  const plan = await runCommand(['plan', job], env)
  expect(plan.stdout).toBe(
    [
      `night: not begun, 421 blocks of 421 to read (chain 43114, output ${output})`,
      '  quota  at least 421 requests, about 421 in all',
      '  units  about 8,420 compute units',
      '  time   unknown until the first page',
      '  disk   unknown until the first export',
      '  blocks [0, 421)\n',
    ].join('\n'),
  )
  const ran = await runCommand(['run', job], env)
  expect(ran).toMatchObject({ exit: 0 })
  expect(ran.stdout).toContain('  421 blocks, 6,500 transactions (423 requests')
  expect((await runCommand(['verify', output])).stdout).toMatch(/: OK \(1 file, 6,500 rows, \d+ checks\)\n$/)
  expect((await runCommand(['status', job])).stdout).toContain('night: complete')
  expect((await runCommand(['plan', job], env)).stdout).toContain('0 blocks of 421 to read')
})

test('exits with 6 and names missing blocks, and with 0 once they are available', async () => {
  let head = 400
  const { url } = await startLoopback(createDataService({ head: () => head }))
  const { job, output } = writeJob({ format: 'parquet' })
  const ran = await runCommand(['run', job, '--base-url', url, '--json'])
  expect(ran.exit).toBe(6)
  expect(ran.stderr).toContain('BLOCKS_MISSING: night: 20 blocks are missing: [401, 421)\nfix: ')
  expect(JSON.parse(ran.stdout)).toMatchObject({
    exit: 6,
    jobs: [{ state: 'incomplete', error: null, missingBlocks: 20, wallets: 0 }],
  })
  const [report = ''] = readdirSync(join(output, 'runs'))
  expect(JSON.parse(readFileSync(join(output, 'runs', report), 'utf8'))).toMatchObject({ missingBlocks: 20 })
  const verified = await runCommand(['verify', output])
  expect(verified.exit).toBe(0)
  expect(verified.stdout).toContain('20 blocks are missing: [401, 421)')
  const status = (await runCommand(['status', job])).stdout
  expect(status).toContain('401 blocks with')
  expect(status).toContain('kept; 20 blocks left to read')
  expect((await runCommand(['plan', job])).stdout).toContain('  blocks [401, 421)\n')
  head = 420
  expect((await runCommand(['run', job, '--base-url', url])).exit).toBe(0)
  expect((await runCommand(['verify', output])).exit).toBe(0)
})

test('exports the blocks of the shipped job', { tags: ['long'] }, async () => {
  const output = tempFolder()
  expect((await runCommand(['run', 'jobs/examples/blocks.yaml', '--output', output])).exit).toBe(0)
  expect((await runCommand(['verify', output])).exit).toBe(0)
})

test('exits with 2 for tables that block jobs do not have', async () => {
  const { exit, stderr } = await runCommand([
    'run',
    'jobs/examples/blocks.yaml',
    '--tables',
    'transactions,ledger',
  ])
  expect(exit).toBe(2)
  expect(stderr).toContain('JOB_INVALID: --tables: found ledger, expected only transactions')
})
