import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { testJob } from '../helpers/jobs.ts'
import { type Fault, startLoopback } from '../helpers/loopback.ts'
import { ADDRESSES, runQueued, setUpQueue } from '../helpers/queued-runs.ts'
import { noRedis, testServer } from '../helpers/shared-servers.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const FEW = ADDRESSES.slice(0, 4)

describe.skipIf(noRedis)('a queue run whose workers are all throttled', { tags: ['long'] }, () => {
  const server = testServer()

  test.for([
    { waitSeconds: 20, deadlineMs: 2_000, says: 'deadline' },
    { waitSeconds: 20_000, deadlineMs: 600_000, says: 'past the deadline' },
  ])('ends at its deadline, or immediately if the requested delay exceeds it: %j', async (one) => {
    await server.flush()
    const { url } = await startLoopback(createDataService(), () => (response) => {
      response.writeHead(429, { 'retry-after': String(one.waitSeconds) }).end()
    })
    const service = { baseUrl: url }
    const range = { endBlock: 421, partitionBy: 'blocks:100' as const }
    const job = testJob({ addresses: FEW, service, ...range, output: join(tempFolder(), 'many') })
    const { code, error, state } = await runQueued(server.url, job, { deadlineMs: one.deadlineMs })
    expect([code, state, error?.message]).toEqual([
      'BUDGET_REACHED',
      'failed',
      expect.stringContaining(one.says),
    ])
  })

  test('ends with exit code 9, and the next run continues it', async () => {
    let isHeld = true
    const hold: Fault = () =>
      isHeld ? (response) => void response.writeHead(429, { 'retry-after': '2' }).end() : undefined
    const at = await setUpQueue(server, hold, FEW)
    at.startWorker()
    const { exit, stderr } = await at.runQueued('--deadline', '2s')
    expect([exit, stderr]).toEqual([9, expect.stringContaining('BUDGET_REACHED')])
    isHeld = false
    const next = await at.runQueued()
    expect([next.exit, next.stderr]).toEqual([0, expect.stringContaining('resuming an unfinished run')])
    await at.expectSameAsAlone()
  })
})
