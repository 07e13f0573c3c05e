import { afterAll, beforeAll, test } from 'vitest'
import { playRound, ROUNDS } from '../helpers/queue-scenarios.ts'
import { startTestServer, type TestServer } from '../helpers/shared-servers.ts'
import { type Radosgw, startRadosgw } from '../storage/start-radosgw.ts'

const rounds = Number(process.env.SOAK_ROUNDS ?? 30)
const seed = Number(process.env.SOAK_SEED ?? 1)
const where = process.env.SOAK_PLACE ?? 'both'

let server: TestServer
let radosgw: Radosgw | undefined
beforeAll(async () => {
  server = await startTestServer()
  if (where !== 'folder') radosgw = await startRadosgw()
})
afterAll(() => Promise.all([server.stop(), radosgw?.stop()]))

const isBucket = (at: number) => where === 'bucket' || (where === 'both' && at % 2 === 1)
const planned = Array.from({ length: rounds }, (_, at) => {
  const kind = ROUNDS[Math.floor(at / (where === 'both' ? 2 : 1)) % ROUNDS.length] ?? 'kills'
  return { kind, seed: seed * 1_000 + at, place: isBucket(at) ? 'a bucket' : 'a folder' }
})

test.for(planned)('$kind, into $place, seed $seed', { timeout: 1_800_000 }, async ({ place, ...round }) => {
  await playRound({ ...round, server, place: place === 'a bucket' ? radosgw?.place : undefined })
  console.log(`${round.kind}, ${place}, seed ${round.seed}: same bytes`)
})
