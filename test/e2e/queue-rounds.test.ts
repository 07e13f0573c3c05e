// @module-tag long

import { afterAll, beforeAll, describe, test } from 'vitest'
import { ROUNDS, runRound } from '../helpers/queue-scenarios.ts'
import { noRedis, startTestServer, type TestServer } from '../helpers/shared-servers.ts'

describe.skipIf(noRedis)('a run with a queue writes the bytes of a single machine', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(() => server.stop())

  test.for(ROUNDS.map((kind, at) => ({ kind, seed: at + 1 })))('after $kind (seed $seed)', (round) =>
    runRound({ ...round, server }),
  )
})
