import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { startReceiver } from '../cli/monitoring/receiver.ts'
import { type Fault, startLoopback } from '../helpers/loopback.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { isMissing } from '../helpers/programs.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const SCRIPT = join(import.meta.dirname, '../../jobs/schedule/nightly.sh')
const service = createDataService()

async function night(fault?: Fault) {
  const cwd = tempFolder()
  const { url } = await startLoopback(service, fault)
  const text = `chain: 43114\naddresses: ["${demoWallets[48]}"]\nendBlock: 421\nservice: { baseUrl: "${url}" }\n`
  writeFileSync(join(cwd, 'mine.yaml'), text)
  return { cwd, database: join(cwd, 'output/lake.db') }
}

function start(cwd: string, options: string[] = []) {
  const { PATH } = process.env
  const child = spawn('sh', [SCRIPT, 'mine.yaml', '--quiet', ...options], { cwd, env: { PATH } })
  return { child, ended: once(child, 'exit').then(([exit]) => exit as number) }
}

/** Makes every transaction of a page invalid. */
const spoilt: Fault =
  () =>
  (response, { status, headers, body }) => {
    const text = String(body).replace('"blockNumber":"', '"blockNumber":"x')
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) })
    response.end(text)
  }

describe('nightly.sh', () => {
  test('loads a complete export and exits with 0', { tags: ['long'] }, async () => {
    const { cwd, database } = await night()
    expect(await start(cwd).ended).toBe(0)
    expect(existsSync(database)).toBe(true)
  })

  test('loads the export after exit code 6 and exits with 6', async () => {
    const { cwd, database } = await night(spoilt)
    expect(await start(cwd).ended).toBe(6)
    expect(existsSync(database)).toBe(true)
  })

  test('loads nothing after exit code 9, and everything after the resumed run', async () => {
    const { cwd, database } = await night()
    expect(await start(cwd, ['--max-requests', '1']).ended).toBe(9)
    expect(existsSync(database)).toBe(false)
    expect(await start(cwd).ended).toBe(0)
    expect(existsSync(database)).toBe(true)
  })

  test('forwards SIGTERM, exits with 143 and loads nothing', async () => {
    let stop = () => {}
    const { cwd, database } = await night(() => () => stop())
    const { child, ended } = start(cwd)
    stop = () => void child.kill('SIGTERM')
    expect(await ended).toBe(143)
    expect(existsSync(database)).toBe(false)
  })

  test('reports a failed load by exit code, ping and metrics', async () => {
    const { cwd } = await night()
    const { url, received } = await startReceiver()
    const env = {
      PATH: process.env.PATH,
      WALLETLAKE_LOAD_TO: 'duckdb:missing/folder/lake.db',
      WALLETLAKE_PING_URL: `${url}/job`,
    }
    const metrics = join(cwd, 'walletlake.prom')
    const child = spawn('sh', [SCRIPT, 'mine.yaml', '--quiet', '--metrics-file', metrics], { cwd, env })
    expect(await once(child, 'exit')).toEqual([7, null])
    expect(received.map((request) => request.url)).toEqual(['/job/start', '/job/7'])
    const text = readFileSync(metrics, 'utf8')
    expect(text).toContain('walletlake_exit_code 7')
    expect(text).toContain('walletlake_last_run_exit_code{job="mine"} 7')
    expect(text).not.toContain('walletlake_last_success_timestamp_seconds{')
  })

  test('exits with 2 and a fix if no job is given', () => {
    const ran = spawnSync('sh', [SCRIPT], { encoding: 'utf8' })
    expect(ran).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("fix: sh nightly.sh 'jobs/*.yaml'"),
    })
  })

  test.skipIf(isMissing('shellcheck'))('passes shellcheck', () => {
    expect(spawnSync('shellcheck', [SCRIPT], { encoding: 'utf8' })).toMatchObject({ status: 0, stdout: '' })
  })
})
