import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { ExportError } from '../../src/core/model/errors.ts'
import type { Job } from '../../src/core/model/model.ts'
import { DEFAULT_TABLES } from '../../src/core/table/index.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataServiceOptions } from '../../src/demo-server/data-service.ts'
import { listen } from '../../src/demo-server/listen.ts'
import { run } from '../../src/export/run.ts'
import type { RunTrigger, ScheduleAfter } from '../../src/watch/run-scheduler.ts'
import { type WatchOptions, watchJob } from '../../src/watch/watch.ts'
import { testJob } from '../helpers/jobs.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { type Outage, withOutage } from '../helpers/outage.ts'
import { readCsvTable, readManifest } from '../helpers/read-output.ts'
import { createSeededRandom } from '../helpers/seeded-random.ts'
import { serve } from '../helpers/serve.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'
import { clientOf, pagesOf } from '../http/server.ts'

/** Seven wallets with 60 to 214 transactions each, which need two webhooks. */
const ADDRESSES = ['eb32595b', '48a0b31d', '45bc58f8', 'c0ab4fef', 'bc7e6521', 'f9bb054a', '0cc80998'].map(
  (start) => demoWallets.find((address) => address.startsWith(`0x${start}`)) ?? '',
)

/** Serves a chain that is at block 100 and grows on request. */
async function startChain(options: DataServiceOptions = {}, outage: Outage = () => undefined) {
  const replayed = createDataService({ replay: { from: 100 }, deliveryDelaysMs: [], ...options })
  const service = withOutage(replayed, outage)
  const { url, close } = await listen(service)
  onTestFinished(close)
  const grow = async (blocks: number) => {
    await service.advance(blocks)
    await service.idle()
  }
  return { service, url, grow }
}

/** Forwards events from the public URL to the watch, like a reverse proxy, and records them. */
async function startProxy() {
  const passed: { path: string; body: Buffer; signature: string; status: number }[] = []
  const target = { url: '' }
  const url = await serve(async (request, response) => {
    const { url: path = '', headers } = request
    const body = await buffer(request)
    const signature = String(headers['x-signature'] ?? '')
    const { status } = await fetch(target.url + path, {
      method: 'POST',
      body,
      headers: { 'x-signature': signature },
    })
    passed.push({ path, body, signature, status })
    response.writeHead(status).end()
  })
  return { url: `${url}/hook`, passed, target }
}

/** Timers that the test fires. */
function manualTimers() {
  const waiting = new Set<{ delayMs: number; run: () => void }>()
  const after: ScheduleAfter = (delayMs, work) => {
    const timer = { delayMs, run: work }
    waiting.add(timer)
    return () => waiting.delete(timer)
  }
  /** Fires the timer with the shortest delay. Returns false if there is none up to `mostMs`. */
  const pass = (mostMs: number) => {
    const [next] = [...waiting]
      .filter(({ delayMs }) => delayMs <= mostMs)
      .sort((a, b) => a.delayMs - b.delayMs)
    if (next === undefined) return false
    waiting.delete(next)
    next.run()
    return true
  }
  return { after, pass }
}

const DEBOUNCE_MS = 1
const CATCH_UP_MS = 1_000

type Given = {
  job?: Partial<Job>
  watch?: Partial<WatchOptions>
  output?: string
  proxy?: Awaited<ReturnType<typeof startProxy>>
}

/** Starts a watch and waits for its first run. */
async function startWatch(url: string, given: Given = {}) {
  const proxy = given.proxy ?? (await startProxy())
  const timers = manualTimers()
  const stop = new AbortController()
  const notices: string[] = []
  const occasions: RunTrigger[] = []
  let onRan = () => {}
  const job = testJob({
    addresses: ADDRESSES,
    endBlock: undefined,
    output: given.output ?? tempFolder(),
    concurrency: 4,
    service: { baseUrl: url },
    ...given.job,
  })
  const ran = () => new Promise<void>((resolve) => (onRan = resolve))
  const first = ran()
  const ended = watchJob(job, {
    receiverUrl: proxy.url,
    listen: { host: '127.0.0.1', port: 0 },
    addressesPerWebhook: 5,
    catchUpMs: CATCH_UP_MS,
    debounceMs: DEBOUNCE_MS,
    lookbackBlocks: 100,
    signal: stop.signal,
    scheduleAfter: timers.after,
    retry: { retries: 1, firstDelayMs: 1 },
    onNotice: (notice) => notices.push(notice),
    onListening: (at) => {
      proxy.target.url = at
    },
    onRun: ({ trigger }) => {
      occasions.push(trigger)
      setImmediate(onRan)
    },
    ...given.watch,
  }).catch((thrown: unknown) => thrown as ExportError)
  await Promise.race([first, ended])
  /** Fires all timers up to a delay until none is left. */
  const flushTimers = async (mostMs = DEBOUNCE_MS) => {
    for (;;) {
      const next = ran()
      if (!timers.pass(mostMs)) return
      await next
      if (mostMs === CATCH_UP_MS) return
    }
  }
  const end = async (code: 'INTERRUPTED' | 'TERMINATED' = 'INTERRUPTED') => {
    stop.abort(new ExportError(code, 'stopped by the test'))
    return ended
  }
  onTestFinished(async () => void (await end()))
  return { job, proxy, timers, notices, occasions, flushTimers, ran, end, ended }
}

/** Rows of every table of an output, and of a fresh export of the current chain. */
async function expectFreshRows(job: Job): Promise<void> {
  const output = tempFolder()
  await run([{ ...job, output }])
  for (const table of DEFAULT_TABLES) {
    const rows = await readCsvTable(job.output, table)
    expect(rows).toEqual(await readCsvTable(output, table))
  }
}

test('exports new transactions after events alone', async () => {
  const { url, grow } = await startChain()
  const { job, flushTimers, occasions, proxy } = await startWatch(url)
  await expectFreshRows(job)
  await grow(60)
  expect(proxy.passed.length).toBeGreaterThan(10)
  expect(new Set(proxy.passed.map(({ status }) => status))).toEqual(new Set([200]))
  expect(readManifest(job.output).coverage[0]?.toBlock).toBeLessThanOrEqual(101)
  await flushTimers()
  expect(readManifest(job.output).coverage[0]?.toBlock).toBeGreaterThan(150)
  await expectFreshRows(job)
  expect(occasions).toEqual(['start', 'event'])
})

test('ends with the rows of a fresh export, even with lost, duplicate, reordered and forged events', {
  tags: ['long'],
}, async () => {
  const random = createSeededRandom(42)
  const roll = (below: number) => random.between(0, below - 1)
  const { url, grow } = await startChain({
    deliver: (deliveries) => {
      const some = deliveries.filter(() => roll(3) > 0)
      const more = [...some, ...some.filter(() => roll(2) > 0)]
      return more
        .map((one) => [roll(1_000), one] as const)
        .sort(([a], [b]) => a - b)
        .map(([, one]) => one)
    },
  })
  const { job, flushTimers, proxy, timers } = await startWatch(url)
  for (let step = 0; step < 20; step += 1) {
    await grow(1 + roll(40))
    const old = proxy.passed[roll(Math.max(1, proxy.passed.length))]
    for (const body of ['{"event":{"transaction":{"txHash":"0xforged"}}}', '{', String(old?.body ?? '{}')])
      await fetch(proxy.target.url + (old?.path ?? '/'), { method: 'POST', body })
    if (roll(2) > 0) await flushTimers()
  }
  await flushTimers()
  await flushTimers(CATCH_UP_MS)
  await expectFreshRows(job)
  expect(readManifest(job.output).coverage[0]?.toBlock).toBeGreaterThan(400)
  expect(timers.pass(DEBOUNCE_MS)).toBe(false)
})

test('finds transactions without events in the catch-up run', async () => {
  const { url, grow } = await startChain({ deliver: () => [] })
  const { job, flushTimers, occasions } = await startWatch(url)
  await grow(40)
  await flushTimers()
  expect(occasions).toEqual(['start'])
  await flushTimers(CATCH_UP_MS)
  expect(occasions).toEqual(['start', 'catch-up'])
  await expectFreshRows(job)
})

test('finds the transactions of a wallet whose first response was empty, even without a lookback', {
  tags: ['long'],
}, async () => {
  const late = { hidden: true }
  const { service } = await startChain({ replay: { from: 90 } })
  const { url, close } = await listen({
    handle: async (request) => {
      const answer = await service.handle(request)
      if (!late.hidden || !request.url.includes(`/addresses/${ADDRESSES[0]}/`)) return answer
      return { ...answer, body: '{"transactions":[]}' }
    },
  })
  onTestFinished(close)
  const { job, flushTimers } = await startWatch(url, { watch: { lookbackBlocks: 0 } })
  late.hidden = false
  await flushTimers(CATCH_UP_MS)
  await expectFreshRows(job)
})

// webhook-secret.test.ts tests the other schemes.
test.for([
  { signature: 'raw', secretScheme: undefined, taken: true },
  { signature: 'canonical', secretScheme: 'raw', taken: false },
] as const)(
  'accepts events signed $signature with the scheme $secretScheme: $taken',
  async ({ signature, secretScheme, taken }) => {
    const { url, grow } = await startChain({ signature })
    await clientOf(url).rotateSharedSecret()
    const { job, flushTimers, proxy } = await startWatch(url, { watch: { secretScheme } })
    await grow(6)
    expect(new Set(proxy.passed.map(({ status }) => status))).toEqual(new Set([taken ? 200 : 401]))
    await flushTimers(taken ? DEBOUNCE_MS : CATCH_UP_MS)
    await expectFreshRows(job)
  },
)

test('ignores forged events if there is a secret', async () => {
  const { url, grow } = await startChain()
  const secret = await clientOf(url).rotateSharedSecret()
  const { proxy, occasions, timers, notices } = await startWatch(url)
  await grow(5)
  const [genuine] = proxy.passed
  expect(timers.pass(DEBOUNCE_MS)).toBe(true)
  const forge = async (body: string, signature: string) =>
    (
      await fetch(proxy.target.url + genuine?.path, {
        method: 'POST',
        body,
        headers: { 'x-signature': signature },
      })
    ).status
  expect(await forge(String(genuine?.body).replace('0x', '0y'), genuine?.signature ?? '')).toBe(401)
  expect(await forge('{}', '')).toBe(401)
  expect(await forge(String(genuine?.body), genuine?.signature ?? '')).toBe(200)
  expect(occasions).toHaveLength(1)
  expect(notices.join()).not.toContain(secret)
})

test('reuses the path and webhooks after a restart', async () => {
  const { url } = await startChain()
  const output = tempFolder()
  const proxy = await startProxy()
  const webhooks = async () => (await pagesOf(clientOf(url).listWebhooks())).flatMap((page) => page.webhooks)
  await (await startWatch(url, { output, proxy })).end()
  const before = await webhooks()
  expect(before.flatMap(({ metadata }) => metadata?.addresses ?? []).sort()).toEqual([...ADDRESSES].sort())
  await (await startWatch(url, { output, proxy })).end()
  expect(await webhooks()).toEqual(before)
  rmSync(join(output, '.walletlake'), { recursive: true })
  await (await startWatch(url, { output, proxy })).end()
  expect(await webhooks()).toEqual(before)
})

test.for(['INTERRUPTED', 'TERMINATED'] as const)('ends with %s and releases everything', async (code) => {
  const { url } = await startChain()
  const { end, proxy, job } = await startWatch(url)
  expect(await end(code)).toMatchObject({ code })
  await expect(fetch(proxy.target.url)).rejects.toThrow()
  const again = await startWatch(url, { output: job.output })
  expect(await again.end()).toMatchObject({ code: 'INTERRUPTED' })
})

test('aborts the current run when it is stopped', async () => {
  const { service } = await startChain()
  const stop = new AbortController()
  const { url, close } = await listen({
    handle: (request) => {
      if (!request.url.includes('/addresses/')) return service.handle(request)
      stop.abort(new ExportError('TERMINATED', 'stopped by the test'))
      return new Promise(() => {})
    },
  })
  onTestFinished(close)
  const { ended, occasions } = await startWatch(url, { watch: { signal: stop.signal } })
  expect(await ended).toMatchObject({ code: 'TERMINATED' })
  expect(occasions).toEqual(['start'])
})

testSample(
  1,
  [
    { trigger: 'an event', deliver: undefined, dueMs: DEBOUNCE_MS },
    { trigger: 'the catch-up', deliver: () => [], dueMs: CATCH_UP_MS },
  ],
  'continues after the service was down during $trigger',
  async ({ deliver, dueMs }) => {
    const away = { status: undefined as 503 | undefined }
    const outage: Outage = ({ method }) => (method === 'GET' ? away.status : undefined)
    const { url, grow } = await startChain({ deliver }, outage)
    const { job, flushTimers, occasions, notices, timers, ran } = await startWatch(url)
    await grow(30)
    away.status = 503
    const failed = ran()
    expect(timers.pass(dueMs)).toBe(true)
    await failed
    expect(notices.join('\n')).toContain('will be retried: SERVICE_UNAVAILABLE')
    away.status = undefined
    await flushTimers()
    expect(occasions.slice(-1)).toEqual(['late'])
    await expectFreshRows(job)
  },
)

test('ends if the key is refused later', async () => {
  const keys = ['good']
  const { service } = await startChain({ keys })
  const state = { refused: false }
  const { url, close } = await listen({
    handle: (request) => {
      const headers = { ...request.headers, ...(state.refused ? { 'x-service-api-key': 'revoked' } : {}) }
      return service.handle({ ...request, headers })
    },
  })
  onTestFinished(close)
  const { ended, timers } = await startWatch(url, { watch: { apiKey: 'good' } })
  state.refused = true
  timers.pass(CATCH_UP_MS)
  expect(await ended).toMatchObject({ code: 'KEY_REFUSED' })
})

test('does not allow a second watch of the same output', async () => {
  const { url } = await startChain()
  const { job } = await startWatch(url)
  const { ended } = await startWatch(url, { output: job.output })
  expect(await ended).toMatchObject({ code: 'OUTPUT_LOCKED', message: expect.stringContaining('watching') })
})

test.for([
  { what: 'an endBlock', job: { endBlock: 421 }, says: /endBlock/ },
  {
    what: 'the demo service',
    job: { service: { baseUrl: 'demo', api: 'data-api' as const, apiKeyHeader: 'x', timeoutMs: 1 } },
    says: /never changes/,
  },
])('rejects a job with $what', async ({ job, says }) => {
  const { ended } = await startWatch('http://127.0.0.1:9', { job })
  expect(await ended).toMatchObject({ code: 'USAGE', message: expect.stringMatching(says) })
})
