import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createDataService } from '../../src/service/create-data-service.ts'
import { DEMO_WALLETS } from '../../src/service/demo-wallets.ts'
import { runCommand, startCommand } from '../helpers/command.ts'
import { type Fault, type Loopback, send, startLoopback } from '../helpers/loopback.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { noRedis, startRedis, type TestRedis } from '../helpers/start-redis.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const addresses = DEMO_WALLETS.slice(0, 16).map((address) => address.toLowerCase())

/** A job of some wallets in partitions, in a folder that all workers see. */
function writeJob(folder: string, more = 'endBlock: 421\npartitionBy: blocks:100\n'): string {
  const file = join(folder, 'many.yaml')
  const list = addresses.map((address) => `  - { address: "${address}" }`).join('\n')
  writeFileSync(file, `chain: 43114\naddresses:\n${list}\n${more}`)
  return file
}

describe.skipIf(noRedis)('a run over a queue', () => {
  let redis: TestRedis
  let admin: Redis
  beforeAll(async () => {
    redis = await startRedis()
    admin = new Redis(redis.url)
  })
  afterAll(async () => {
    admin.disconnect()
    await redis.stop()
  })

  type Place = { folder: string; job: string; env: NodeJS.ProcessEnv; service: Loopback }

  async function place(fault?: Fault): Promise<Place> {
    await admin.flushall()
    const folder = tempFolder()
    const service = await startLoopback(createDataService(), fault)
    return { folder, job: writeJob(folder), service, env: { WALLETLAKE_BASE_URL: service.url } }
  }

  function startWorker({ env, folder }: Place) {
    const worker = startCommand(['worker', '--queue', redis.url, '--concurrency', '3'], env, { cwd: folder })
    onTestFinished(() => {
      worker.kill('SIGKILL')
    })
    return worker
  }

  const runQueued = ({ job, env, folder }: Place, output: string) =>
    runCommand(['run', job, '--output', output, '--queue', redis.url], env, { cwd: folder })

  const runAlone = ({ job, env, folder }: Place) =>
    runCommand(['run', job, '--output', 'alone'], env, { cwd: folder })

  const bytesOf = ({ folder }: Place, output: string) => outputBytes(join(folder, output))

  test('writes the bytes of one machine though a worker is killed', async () => {
    let kill = () => {}
    const at = await place(({ count }) => (count === 12 ? afterwards(() => kill()) : undefined))
    const [first] = [startWorker(at), startWorker(at), startWorker(at)]
    kill = () => first.kill('SIGKILL')
    const { exit, stderr } = await runQueued(at, 'many')
    expect([exit, stderr.match(/^[A-Z_]+:.*/m)?.[0]]).toEqual([0, undefined])
    expect(first.killed).toBe(true)
    expect((await runAlone(at)).exit).toBe(0)
    expect(bytesOf(at, 'many')).toEqual(bytesOf(at, 'alone'))
    expect(Object.keys(bytesOf(at, 'many')).length).toBeGreaterThan(20)
  })

  test('cuts months where one machine cuts them', async () => {
    const at = await place()
    writeJob(at.folder, 'endBlock: 421\npartitionBy: month\nformat: parquet\nmaxRowsPerFile: 200\n')
    startWorker(at)
    expect((await runQueued(at, 'many')).exit).toBe(0)
    expect((await runAlone(at)).exit).toBe(0)
    expect(bytesOf(at, 'many')).toEqual(bytesOf(at, 'alone'))
  })

  test('plans again what an emptied queue lost, and asks nothing twice that is stored', async () => {
    const at = await place(({ count }) => (count === 20 ? afterwards(() => admin.flushall()) : undefined))
    startWorker(at)
    const { exit, stderr } = await runQueued(at, 'many')
    expect(exit).toBe(0)
    expect(stderr).toMatch(/the queue lost units; \d+ units? (is|are) planned again/)
    const underWay = 3
    const asked = at.service.asked.length
    expect((await runAlone(at)).exit).toBe(0)
    expect(asked).toBeLessThanOrEqual(at.service.asked.length - asked + underWay)
    expect(bytesOf(at, 'many')).toEqual(bytesOf(at, 'alone'))
  })

  test('names a unit that fails for good, and later does only what is missing', async () => {
    const refused = addresses[3] ?? ''
    let isRefusing = true
    const at = await place(({ path }) =>
      isRefusing && path.toLowerCase().includes(refused)
        ? (response) => void response.writeHead(403).end('{"message":"no"}')
        : undefined,
    )
    startWorker(at)
    const failed = await runQueued(at, 'many')
    expect(failed.exit).toBe(5)
    expect(failed.stderr).toMatch(
      /^UNITS_FAILED: many: 1 unit failed for good: wallet \d+ in blocks 0 to 420/m,
    )
    expect(failed.stderr).toMatch(/KEY_REFUSED.*\nfix: /)
    isRefusing = false
    const before = at.service.asked.length
    expect((await runQueued(at, 'many')).exit).toBe(0)
    const later = at.service.asked.slice(before).map(({ path }) => path.toLowerCase().includes(refused))
    expect(later.every(Boolean)).toBe(true)
    expect((await runAlone(at)).exit).toBe(0)
    expect(bytesOf(at, 'many')).toEqual(bytesOf(at, 'alone'))
  })

  test('shows runs, units and workers, and a worker that is stopped ends well', async () => {
    const [held, answer] = signalled()
    const [isReached, reached] = signalled()
    const reach = () => {
      reached()
      return held
    }
    const at = await place(({ count }) => (count === 20 ? afterwards(() => reach()) : undefined))
    const worker = startWorker(at)
    const run = runQueued(at, 'many')
    await isReached
    const shown = await runCommand(['status', '--queue', redis.url, '--json'])
    expect(JSON.parse(shown.stdout)).toMatchObject({
      workers: 1,
      runs: [{ name: 'many', units: { write: { done: 0, left: 0, failed: 0 } } }],
    })
    const words = await runCommand(['status', '--queue', redis.url])
    expect(words.stdout).toMatch(/^1 worker\nmany: in .*\n {2}reading: \d+ done, \d+ left, 0 failed\n/)
    answer()
    expect((await run).exit).toBe(0)
    worker.kill('SIGTERM')
    expect((await worker.ended).exit).toBe(0)
  })

  test('hands units back that a stopped worker does not finish in time', async () => {
    const [isReached, reached] = signalled()
    const at = await place(({ count }) => (count === 6 ? () => reached() : undefined))
    const worker = startCommand(['worker', '--queue', redis.url, '--shutdown-timeout', '200ms'], at.env, {
      cwd: at.folder,
    })
    const run = runQueued(at, 'many')
    await isReached
    worker.kill('SIGTERM')
    const { exit, stderr } = await worker.ended
    expect([exit, stderr]).toEqual([0, expect.stringContaining('finished or handed back')])
    startWorker(at)
    expect((await run).exit).toBe(0)
    expect((await runAlone(at)).exit).toBe(0)
    expect(bytesOf(at, 'many')).toEqual(bytesOf(at, 'alone'))
  })

  test('keeps a worker with another key from serving it', async () => {
    const at = await place()
    const stranger = startCommand(['worker', '--queue', redis.url], { WALLETLAKE_API_KEY: 'another' })
    onTestFinished(() => {
      stranger.kill('SIGKILL')
    })
    const said = new Promise<void>((resolve) => {
      stranger.stderr?.on('data', (chunk) => {
        if (String(chunk).includes('begun with another key')) resolve()
      })
    })
    const run = runQueued(at, 'many')
    await said
    expect(at.service.asked).toEqual([])
    startWorker(at)
    expect((await run).exit).toBe(0)
  })
})

describe('what a run over a queue does not take', () => {
  test.for([
    { more: 'partitionBy: blocks:100\n', what: 'jobs without endBlock' },
    { more: 'endBlock: 421\n', what: 'jobs without partitionBy' },
    { more: 'endBlock: 421\npartitionBy: blocks:9\nkeepRaw: true\n', what: 'keepRaw' },
    {
      more: 'endBlock: 421\npartitionBy: blocks:9\nservice: { baseUrl: demo }\n',
      what: 'the embedded service',
    },
  ])('is said with what to do: $what', async ({ more, what }) => {
    const job = writeJob(tempFolder(), more)
    const env = more.includes('service') ? {} : { WALLETLAKE_BASE_URL: 'http://127.0.0.1:9' }
    const { exit, stderr } = await runCommand(['run', job, '--queue', 'redis://127.0.0.1:9'], env)
    expect(exit).toBe(2)
    expect(stderr).toContain(`a run over a queue does not take ${what} yet\nfix: `)
  })

  test.for([
    { url: 'postgres://host/db', says: 'a queue in PostgreSQL is not supported' },
    { url: 'nonsense', says: '--queue takes an address of Redis' },
  ])('is said of the address $url', async ({ url, says }) => {
    const { exit, stderr } = await runCommand(['worker', '--queue', url])
    expect([exit, stderr]).toEqual([2, expect.stringContaining(`${says}\nfix: Give --queue redis://`)])
  })
})

/** A promise, and what fulfils it. */
function signalled(): [Promise<void>, () => void] {
  let fulfil = () => {}
  const promise = new Promise<void>((resolve) => {
    fulfil = resolve
  })
  return [promise, fulfil]
}

/** Does something before the right answer is sent. */
function afterwards(act: () => unknown): ReturnType<Fault> {
  return async (response, answer) => {
    await act()
    send(response, answer)
  }
}
