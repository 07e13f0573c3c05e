import { afterAll, beforeAll, test } from 'vitest'
import { checkRandomJob } from '../helpers/quirks/check-quirk-job.ts'
import { noRedis, startRedis, type TestRedis } from '../helpers/start-redis.ts'

const first = Number(process.env.SOAK_SEED ?? 1)
const seeds = Array.from({ length: Number(process.env.SOAK_JOBS ?? 100) }, (_, at) => first + at)

let redis: TestRedis | undefined
beforeAll(async () => {
  if (!noRedis) redis = await startRedis()
})
afterAll(() => redis?.stop())

test.for(seeds)(
  'random jobs are right although the service has quirks, seed %i',
  { timeout: 600_000 },
  (seed) => checkRandomJob(seed, redis?.url),
)
