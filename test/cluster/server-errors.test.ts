import type { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inspectQueue } from '../../src/cluster/inspect-queue.ts'
import { runOverQueue } from '../../src/cluster/run-over-queue.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { noRedis, testServer } from '../helpers/shared-servers.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

describe.skipIf(noRedis)('an error that Redis answers', () => {
  const server = testServer()

  const RUNS_KEY = 'walletlake:runs'
  const cases = [
    {
      what: 'a key of another type',
      break: (redis: Redis) => redis.set(RUNS_KEY, 'of another program'),
      message: 'the queue cannot be used: WRONGTYPE',
      fix: 'redis://host:6379/1',
    },
    {
      what: 'a full server',
      break: (redis: Redis) => redis.config('SET', 'maxmemory', '1'),
      message: 'the queue cannot be used: OOM',
      fix: 'maxmemory',
    },
  ]

  test.for(cases)('$what ends a run with advice', async ({ message, fix, ...given }) => {
    await server.flush()
    onTestFinished(async () => void (await server.redis.config('SET', 'maxmemory', '0')))
    await given.break(server.redis)
    const { url } = await startLoopback(createDataService())
    const service = { baseUrl: url }
    const job = testJob({
      addresses: demoWallets.slice(0, 1),
      service,
      endBlock: 421,
      partitionBy: 'blocks:100',
      output: tempFolder(),
    })
    const { jobs } = await runOverQueue([job], { queue: { url: server.url } })
    expect(jobs[0]?.error).toMatchObject({
      code: 'QUEUE_UNAVAILABLE',
      message: expect.stringContaining(message),
      fix: expect.stringContaining(fix),
    })
  })

  test('a key of another type is no bug when a queue is inspected', async () => {
    await server.flush()
    await server.redis.set(RUNS_KEY, 'of another program')
    await expect(inspectQueue({ url: server.url })).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' })
  })
})
