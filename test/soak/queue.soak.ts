import { afterAll, beforeAll, test } from 'vitest'
import { ROUNDS, runRound } from '../helpers/queue-scenarios.ts'
import { testServer } from '../helpers/shared-servers.ts'
import { type Radosgw, startRadosgw } from '../storage/start-radosgw.ts'

const rounds = Number(process.env.SOAK_ROUNDS ?? 30)
const seed = Number(process.env.SOAK_SEED ?? 1)
const locationOption = process.env.SOAK_PLACE ?? 'both'

const server = testServer()
let radosgw: Radosgw | undefined
beforeAll(async () => {
  if (locationOption !== 'folder') radosgw = await startRadosgw()
})
afterAll(() => radosgw?.stop())

const isBucket = (at: number) => locationOption === 'bucket' || (locationOption === 'both' && at % 2 === 1)
const planned = Array.from({ length: rounds }, (_, at) => {
  const kind = ROUNDS[Math.floor(at / (locationOption === 'both' ? 2 : 1)) % ROUNDS.length] ?? 'kills'
  return { kind, seed: seed * 1_000 + at, place: isBucket(at) ? 'a bucket' : 'a folder' }
})

test.for(planned)('$kind, into $place, seed $seed', { timeout: 1_800_000 }, async ({ place, ...round }) => {
  await runRound({ ...round, server, newLocation: place === 'a bucket' ? radosgw?.newLocation : undefined })
  console.log(`${round.kind}, ${place}, seed ${round.seed}: same bytes`)
})
