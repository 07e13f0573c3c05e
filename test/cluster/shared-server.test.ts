import { describe, expect, onTestFinished, test } from 'vitest'
import { type OpenRun, openServer } from '../../src/cluster/server.ts'
import { newRunStats } from '../../src/core/model/run-stats.ts'
import { GENERATOR } from '../../src/core/model/version.ts'
import { noRedis, testServer } from '../helpers/shared-servers.ts'

/** A privileged port, so that no other test ever listens on it. A free port could be assigned to another one. */
const UNUSED_PORT = 1
const NONE = { runs: [], invalid: [] }
const ATTEMPT = '0123456789abcdef'
const RUN: OpenRun = {
  id: `many-${ATTEMPT}`,
  name: 'many',
  attempt: ATTEMPT,
  version: GENERATOR,
  output: '/lake',
  quota: `walletlake:quota:${'1'.repeat(32)}`,
  signature: 'a'.repeat(64),
}

async function open(url: string) {
  const server = await openServer({ url })
  onTestFinished(server.close)
  return server
}

describe.skipIf(noRedis)('the shared server', { tags: ['long'] }, () => {
  const server = testServer()

  test('lists runs until they are unregistered, and keeps nothing of them', async () => {
    const [one, other] = [await open(server.url), await open(server.url)]
    await one.registerRun(RUN)
    await one.registerRun({ ...RUN, output: '/other' })
    expect(await other.runs()).toEqual({ runs: [{ ...RUN, output: '/other' }], invalid: [] })
    const report = { stats: { ...newRunStats(1, 0), requests: 2, pages: 1 }, reported: {} }
    await one.addProgress(RUN.id, report)
    report.stats.requests += 1
    await one.addProgress(RUN.id, report)
    await other.addProgress(RUN.id, { stats: { ...newRunStats(1, 0), requests: 3 }, reported: {} })
    expect(await other.readProgress(RUN.id)).toMatchObject({ requests: 6, pages: 1, items: 0 })
    await other.unregisterRun(RUN.id)
    expect(await one.runs()).toEqual(NONE)
    expect(await one.readProgress(RUN.id)).toMatchObject({ requests: 0, pages: 0 })
    expect(await server.remainingKeys()).toEqual([])
  })

  test('lists live workers', async () => {
    const one = await open(server.url)
    for (const worker of ['first', 'second', 'second']) await one.heartbeat(worker)
    await one.removeWorker('first')
    expect(await one.liveWorkers()).toEqual(new Map([['second', GENERATOR]]))
  })

  test('waits for a server that is temporarily unavailable', async () => {
    const one = await open(server.url)
    await one.unregisterRun(RUN.id)
    const back = server.restart()
    expect(await one.runs()).toEqual(NONE)
    await back
    await one.registerRun(RUN)
    expect(await one.runs()).toEqual({ runs: [RUN], invalid: [] })
    await one.unregisterRun(RUN.id)
  })

  test('can be opened by many clients at once while it is empty', async () => {
    await server.flush()
    const all = await Promise.all(Array.from({ length: 8 }, () => open(server.url)))
    expect(await Promise.all(all.map((one) => one.runs()))).toEqual(all.map(() => NONE))
  })
})

test('the error about an unreachable server contains neither user nor password', {
  tags: ['long'],
}, async () => {
  const opened = openServer({ url: `redis://me:secret@localhost:${UNUSED_PORT}/0` })
  await expect(opened).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' })
  await expect(opened).rejects.toThrow(/^the queue at localhost:1 cannot be used: connect ECONNREFUSED[^@]+$/)
})
