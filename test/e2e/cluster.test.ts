import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runCommand } from '../helpers/command.ts'
import { freePort } from '../helpers/free-port.ts'
import { type Fault, type Loopback, send } from '../helpers/loopback.ts'
import { ADDRESSES, OTHER_ADDRESSES, setUpQueue, writeJob } from '../helpers/queued-runs.ts'
import { noRedis, testServer } from '../helpers/shared-servers.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** Wallets of tests that do not compare files. */
const FEW = ADDRESSES.slice(0, 3)

describe.skipIf(noRedis)('a run with a queue', { tags: ['long'] }, () => {
  const server = testServer()

  test('writes the bytes of a single machine although a worker is killed', async () => {
    let kill = () => {}
    const at = await setUpQueue(server, ({ count }) => (count === 12 ? afterwards(() => kill()) : undefined))
    const first = at.startWorkerProcess()
    for (const _ of [1, 2]) at.startWorker()
    kill = () => first.kill('SIGKILL')
    const { exit, stderr } = await at.runQueued()
    expect([exit, stderr.match(/^[A-Z_]+:.*/m)?.[0]]).toEqual([0, undefined])
    expect(first.killed).toBe(true)
    // Workers notice the end of the run within a second and then no longer report to the queue.
    await expect.poll(() => server.remainingKeys()).toEqual([])
    expect(Object.keys(await at.expectSameAsAlone()).length).toBeGreaterThan(20)
  })

  test('reports that there is no worker, and continues once there is one', async () => {
    const at = await setUpQueue(server, undefined, FEW)
    const run = at.startQueuedRun()
    await new Promise<void>((resolve) => {
      run.stderr?.on('data', (chunk) => {
        if (String(chunk).includes('no worker is connected; start one')) resolve()
      })
    })
    at.startWorker()
    expect(await run.ended).toMatchObject({ exit: 0 })
  })

  test('replans the tasks of a lost queue, and requests no stored page again', async () => {
    const at = await setUpQueue(server, ({ count }) =>
      count === 20 ? afterwards(() => server.flush()) : undefined,
    )
    at.startWorker()
    const { exit, stderr } = await at.runQueued()
    expect(exit).toBe(0)
    expect(stderr).toMatch(/the queue lost tasks; \d+ tasks? (is|are) planned again/)
    const together = [...at.service.requests]
    await at.expectSameAsAlone()
    const twice = ADDRESSES.filter(
      (one) => asksOf(together, one) > asksOf(at.service.requests.slice(together.length), one),
    )
    const underWay = 3
    expect(twice.length).toBeLessThanOrEqual(underWay)
  })

  test('shows runs, tasks and workers, and a stopped worker exits cleanly', async () => {
    const [held, answer] = signalled()
    const [isReached, reached] = signalled()
    const reach = () => {
      reached()
      return held
    }
    const reachAt = ({ count }: { count: number }) => (count === 3 ? afterwards(reach) : undefined)
    const at = await setUpQueue(server, reachAt, FEW)
    const metrics = `127.0.0.1:${await freePort()}`
    const worker = at.startWorkerProcess('--metrics', metrics)
    const run = at.startQueuedRun()
    await isReached
    const statusJson = await runCommand(['status', '--queue', server.url, '--json'])
    expect(JSON.parse(statusJson.stdout)).toMatchObject({
      workers: 1,
      runs: [{ name: 'many', tasks: { write: { done: 0, remaining: 0, failed: 0 } } }],
    })
    const words = await runCommand(['status', '--queue', server.url])
    expect(words.stdout).toMatch(/^1 worker\nmany: in .*\n {2}reading: \d+ done, \d+ remaining, 0 failed\n/)
    const metricsText = await (await fetch(`http://${metrics}/metrics`)).text()
    expect(metricsText).toContain('\nwalletlake_workers 1\n')
    expect(metricsText).toMatch(
      /^walletlake_tasks\{run="many-\w+",job="many",kind="read",state="remaining"\} [1-9]/m,
    )
    answer()
    expect((await run.ended).exit).toBe(0)
    worker.kill('SIGTERM')
    expect((await worker.ended).exit).toBe(0)
  })

  test('splits months at the same blocks as a single machine', async () => {
    const at = await setUpQueue(server)
    at.writeJob('endBlock: 421\npartitionBy: month\nformat: parquet\nmaxRowsPerFile: 200\n')
    at.startWorker()
    expect((await at.runQueued()).exit).toBe(0)
    await at.expectSameAsAlone()
  })

  test('names a task that fails permanently, and later processes only what is missing', async () => {
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
      /^TASKS_FAILED: many: 1 task failed permanently: wallet \d+ in blocks 0 to 420/m,
    )
    expect(failed.stderr).toMatch(/KEY_REFUSED.*\nfix: /)
    isRefusing = false
    const before = at.service.requests.length
    expect((await at.runQueued()).exit).toBe(0)
    const later = at.service.requests.slice(before).filter(({ path }) => path.endsWith('/transactions'))
    expect(later.every(({ path }) => path.toLowerCase().includes(refused))).toBe(true)
    await at.expectSameAsAlone()
  })

  test('returns tasks that a stopped worker does not finish in time', async () => {
    const [isReached, reached] = signalled()
    const at = await setUpQueue(server, ({ count }) => (count === 6 ? () => reached() : undefined))
    const worker = at.startWorkerProcess('--shutdown-timeout', '200ms')
    const run = at.runQueued()
    await isReached
    worker.kill('SIGTERM')
    const { exit, stderr } = await worker.ended
    expect([exit, stderr]).toEqual([0, expect.stringContaining('finished or handed back')])
    at.startWorker()
    expect((await run).exit).toBe(0)
    await at.expectSameAsAlone()
  })

  test('processes a small run while a large one uses all its slots', async () => {
    const [isReached, reached] = signalled()
    const [held, answer] = signalled()
    const isBig = (path: string) => ADDRESSES.some((address) => path.toLowerCase().includes(address))
    const at = await setUpQueue(server, ({ path, count }) => {
      if (count === 3) reached()
      return isBig(path) ? afterwards(() => held) : undefined
    })
    const [small] = OTHER_ADDRESSES
    const job = `chain: 43114\naddresses: ["${small}"]\nendBlock: 421\npartitionBy: blocks:100\n`
    writeFileSync(join(at.folder, 'small.yaml'), job)
    at.startWorker()
    const big = at.startQueuedRun()
    await isReached
    const args = ['run', 'small.yaml', '--output', 'small', '--queue', server.url]
    expect((await runCommand(args, at.env, { cwd: at.folder })).exit).toBe(0)
    answer()
    expect((await big.ended).exit).toBe(0)
  })

  test('is not served by a worker with another key', async () => {
    const at = await setUpQueue(server, undefined, FEW)
    const [isRefused, refuse] = signalled()
    at.startWorker({
      apiKey: 'another',
      onNotice: (notice) => {
        if (notice.includes('started with another key')) refuse()
      },
    })
    const run = at.runQueued()
    await isRefused
    // The run itself asks only whether the service has indexed endBlock.
    expect(at.service.requests.filter(({ path }) => path.includes('/addresses/'))).toEqual([])
    at.startWorker()
    expect((await run).exit).toBe(0)
  })
})

describe('unsupported settings of a run with a queue', () => {
  test.for([
    { more: 'partitionBy: blocks:100\n', what: 'jobs without endBlock' },
    { more: 'endBlock: 421\n', what: 'jobs without partitionBy' },
    { more: 'keepRaw: true\n', what: 'jobs without endBlock, jobs without partitionBy, keepRaw' },
    { more: 'endBlock: 421\npartitionBy: blocks:9\nkeepRaw: true\n', what: 'keepRaw' },
    {
      more: 'endBlock: 421\npartitionBy: blocks:9\nservice: { baseUrl: demo }\n',
      what: 'the embedded service',
    },
  ])('are reported with a fix: $what', async ({ more, what }) => {
    const job = writeJob(tempFolder(), more)
    const env = more.includes('service') ? {} : { WALLETLAKE_BASE_URL: 'http://127.0.0.1:9' }
    const { exit, stderr } = await runCommand(['run', job, '--queue', 'redis://127.0.0.1:9'], env)
    expect(exit).toBe(2)
    expect(stderr).toContain(`a queue run does not support ${what} yet\nfix: `)
  })

  test.for(['postgres://host/db', 'nonsense'])('include the address %s', async (url) => {
    const { exit, stderr } = await runCommand(['worker', '--queue', url])
    const says = '--queue takes the address of a Redis server'
    expect([exit, stderr]).toEqual([2, expect.stringContaining(`${says}\nfix: Use --queue redis://`)])
  })
})

/** A promise with its resolve function. */
function signalled(): [Promise<void>, () => void] {
  let fulfil = () => {}
  const promise = new Promise<void>((resolve) => {
    fulfil = resolve
  })
  return [promise, fulfil]
}

/** Number of requests for a wallet. */
function asksOf(requests: Loopback['requests'], address: string): number {
  return requests.filter(({ path }) => path.toLowerCase().includes(address)).length
}

/** Runs an action before the normal response is sent. */
function afterwards(act: () => unknown): ReturnType<Fault> {
  return async (response, answer) => {
    await act()
    send(response, answer)
  }
}
