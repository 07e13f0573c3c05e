// @module-tag long

import { describe, test } from 'vitest'
import { ROUNDS, runRound } from '../helpers/queue-scenarios.ts'
import { noRedis, testServer } from '../helpers/shared-servers.ts'

describe.skipIf(noRedis)('a run with a queue writes the bytes of a single machine', () => {
  const server = testServer()

  test.for(ROUNDS.map((kind, at) => ({ kind, seed: at + 1 })))('after $kind (seed $seed)', (round) =>
    runRound({ ...round, server }),
  )
})
