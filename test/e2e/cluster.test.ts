import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { DEMO_WALLETS } from '../../src/demo-server/demo-wallets.ts'
import { runCommand, startCommand } from '../helpers/command.ts'
import { freePort } from '../helpers/free-port.ts'
import { type Fault, type Loopback, send } from '../helpers/loopback.ts'
import { ADDRESSES, setUpQueue, writeJob } from '../helpers/queued-runs.ts'
import { noRedis, startTestServer, type TestServer } from '../helpers/shared-servers.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** Each test starts several processes; they may share two cores with other work. */
const LONG = { timeout: 600_000 }

describe.skipIf(noRedis)('a run over a queue', LONG, () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(async () => {
    await server.stop()
  })

  test('writes the bytes of one machine though a worker is killed', async () => {
    let kill = () => {}
    const at = await setUpQueue(server, ({ count }) => (count === 12 ? afterwards(() => kill()) : undefined))
    const [first] = [at.startWorker(), at.startWorker(), at.startWorker()]
    kill = () => first.kill('SIGKILL')
    const { exit, stderr } = await at.runQueued()
    expect([exit, stderr.match(/^[A-Z_]+:.*/m)?.[0]]).toEqual([0, undefined])
    expect(first.killed).toBe(true)
    // Workers learn within a second that the run is over, and then tell the queue nothing more.
    await expect.poll(() => server.remainingKeys(), { timeout: 20_000 }).toEqual([])
    expect((await at.runAlone()).exit).toBe(0)
    expect(at.bytesOf('many')).toEqual(at.bytesOf('alone'))
    expect(Object.keys(at.bytesOf('many')).length).toBeGreaterThan(20)
  })

  test('says that no worker is there, and goes on once there is one', async () => {
    const at = await setUpQueue(server)
    const run = startCommand(['run', at.job, '--output', 'many', '--queue', server.url], at.env, {
      cwd: at.folder,
    })
    await new Promise<void>((resolve) => {
      run.stderr?.on('data', (chunk) => {
        if (String(chunk).includes('no worker is connected; start one')) resolve()
      })
    })
    at.startWorker()
    expect(await run.ended).toMatchObject({ exit: 0 })
  })

  test('plans again what an emptied queue lost, and asks nothing twice that is stored', async () => {
    const at = await setUpQueue(server, ({ count }) =>
      count === 20 ? afterwards(() => server.flush()) : undefined,
    )
    at.startWorker()
    const { exit, stderr } = await at.runQueued()
    expect(exit).toBe(0)
    expect(stderr).toMatch(/the queue lost tasks; \d+ tasks? (is|are) planned again/)
    const together = [...at.service.requests]
    expect((await at.runAlone()).exit).toBe(0)
    const twice = ADDRESSES.filter(
      (one) => asksOf(together, one) > asksOf(at.service.requests.slice(together.length), one),
    )
    const underWay = 3
    expect(twice.length).toBeLessThanOrEqual(underWay)
    expect(at.bytesOf('many')).toEqual(at.bytesOf('alone'))
  })

  test('shows runs, units and workers, and a worker that is stopped ends well', async () => {
    const [held, answer] = signalled()
    const [isReached, reached] = signalled()
    const reach = () => {
      reached()
      return held
    }
    const at = await setUpQueue(server, ({ count }) => (count === 20 ? afterwards(() => reach()) : undefined))
    const metrics = `127.0.0.1:${await freePort()}`
    const worker = at.startWorker('--metrics', metrics)
    const run = at.runQueued()
    await isReached
    const shown = await runCommand(['status', '--queue', server.url, '--json'])
    expect(JSON.parse(shown.stdout)).toMatchObject({
      workers: 1,
      runs: [{ name: 'many', units: { write: { done: 0, left: 0, failed: 0 } } }],
    })
    const words = await runCommand(['status', '--queue', server.url])
    expect(words.stdout).toMatch(/^1 worker\nmany: in .*\n {2}reading: \d+ done, \d+ left, 0 failed\n/)
    const told = await (await fetch(`http://${metrics}/metrics`)).text()
    expect(told).toContain('\nwalletlake_workers 1\n')
    expect(told).toMatch(/^walletlake_units\{run="many-\w+",job="many",kind="read",state="left"\} [1-9]/m)
    answer()
    expect((await run).exit).toBe(0)
    worker.kill('SIGTERM')
    expect((await worker.ended).exit).toBe(0)
  })

  test('cuts months where one machine cuts them', async () => {
    const at = await setUpQueue(server)
    at.writeJob('endBlock: 421\npartitionBy: month\nformat: parquet\nmaxRowsPerFile: 200\n')
    at.startWorker()
    expect((await at.runQueued()).exit).toBe(0)
    expect((await at.runAlone()).exit).toBe(0)
    expect(at.bytesOf('many')).toEqual(at.bytesOf('alone'))
  })

  test('names a unit that fails for good, and later does only what is missing', async () => {
    const refused = ADDRESSES[3] ?? ''
    let isRefusing = true
    const at = await setUpQueue(server, ({ path }) =>
      isRefusing && path.toLowerCase().includes(refused)
        ? (response) => void response.writeHead(401).end('{"message":"no"}')
        : undefined,
    )
    at.startWorker()
    const failed = await at.runQueued()
    expect(failed.exit).toBe(5)
    expect(failed.stderr).toMatch(
      /^UNITS_FAILED: many: 1 task failed permanently: wallet \d+ in blocks 0 to 420/m,
    )
    expect(failed.stderr).toMatch(/KEY_REFUSED.*\nfix: /)
    isRefusing = false
    const before = at.service.requests.length
    expect((await at.runQueued()).exit).toBe(0)
    const later = at.service.requests.slice(before).map(({ path }) => path.toLowerCase().includes(refused))
    expect(later.every(Boolean)).toBe(true)
    expect((await at.runAlone()).exit).toBe(0)
    expect(at.bytesOf('many')).toEqual(at.bytesOf('alone'))
  })

  test('hands units back that a stopped worker does not finish in time', async () => {
    const [isReached, reached] = signalled()
    const at = await setUpQueue(server, ({ count }) => (count === 6 ? () => reached() : undefined))
    const worker = startCommand(['worker', '--queue', server.url, '--shutdown-timeout', '200ms'], at.env, {
      cwd: at.folder,
    })
    const run = at.runQueued()
    await isReached
    worker.kill('SIGTERM')
    const { exit, stderr } = await worker.ended
    expect([exit, stderr]).toEqual([0, expect.stringContaining('finished or handed back')])
    at.startWorker()
    expect((await run).exit).toBe(0)
    expect((await at.runAlone()).exit).toBe(0)
    expect(at.bytesOf('many')).toEqual(at.bytesOf('alone'))
  })

  test('does a small run while a big one takes all the places that it is given', async () => {
    const [isReached, reached] = signalled()
    const [held, answer] = signalled()
    const isBig = (path: string) => ADDRESSES.some((address) => path.toLowerCase().includes(address))
    const at = await setUpQueue(server, ({ path, count }) => {
      if (count === 3) reached()
      return isBig(path) ? afterwards(() => held) : undefined
    })
    const [small] = DEMO_WALLETS.slice(ADDRESSES.length)
    const job = `chain: 43114\naddresses: ["${small}"]\nendBlock: 421\npartitionBy: blocks:100\n`
    writeFileSync(join(at.folder, 'small.yaml'), job)
    at.startWorker()
    const big = at.runQueued()
    await isReached
    const args = ['run', 'small.yaml', '--output', 'small', '--queue', server.url]
    expect((await runCommand(args, at.env, { cwd: at.folder })).exit).toBe(0)
    answer()
    expect((await big).exit).toBe(0)
  })

  test('keeps a worker with another key from serving it', async () => {
    const at = await setUpQueue(server)
    const stranger = startCommand(['worker', '--queue', server.url], { WALLETLAKE_API_KEY: 'another' })
    onTestFinished(() => {
      stranger.kill('SIGKILL')
    })
    const said = new Promise<void>((resolve) => {
      stranger.stderr?.on('data', (chunk) => {
        if (String(chunk).includes('started with another key')) resolve()
      })
    })
    const run = at.runQueued()
    await said
    expect(at.service.requests).toEqual([])
    at.startWorker()
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
    expect(stderr).toContain(`a queue run does not support ${what} yet\nfix: `)
  })

  test.for(['postgres://host/db', 'nonsense'])('is said of the address %s', async (url) => {
    const { exit, stderr } = await runCommand(['worker', '--queue', url])
    const says = '--queue takes the address of a Redis server'
    expect([exit, stderr]).toEqual([2, expect.stringContaining(`${says}\nfix: Use --queue redis://`)])
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

/** How often a wallet was asked for. */
function asksOf(asked: Loopback['requests'], address: string): number {
  return asked.filter(({ path }) => path.toLowerCase().includes(address)).length
}

/** Does something before the right answer is sent. */
function afterwards(act: () => unknown): ReturnType<Fault> {
  return async (response, answer) => {
    await act()
    send(response, answer)
  }
}
