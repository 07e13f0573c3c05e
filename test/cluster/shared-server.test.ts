import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openServer } from '../../src/cluster/server/open-server.ts'
import { SHARED_SERVERS, type TestServer } from '../helpers/shared-servers.ts'

/** One that a program needs leave for: no other test is ever given it, as it may be given one that was free a moment ago. */
const NOBODYS_PORT = 1
const RUN = { id: 'many-1', name: 'many', output: '/lake', quota: 'walletlake:quota:1' }

async function open(url: string) {
  const server = await openServer(url)
  onTestFinished(server.close)
  return server
}

describe.for(SHARED_SERVERS)('the server that machines share, on $kind', ({ isMissing, start }) => {
  const onServer = test.skipIf(isMissing)
  let server: TestServer
  beforeAll(async () => {
    if (!isMissing) server = await start()
  })
  afterAll(async () => {
    if (!isMissing) await server.stop()
  })

  onServer('knows runs until they are withdrawn, and then nothing of them', async () => {
    const [one, other] = [await open(server.url), await open(server.url)]
    await one.announce(RUN)
    await one.announce({ ...RUN, output: '/other' })
    expect(await other.runs()).toEqual([{ ...RUN, output: '/other' }])
    await one.count(RUN.id, { requests: 2, pages: 1 })
    await other.count(RUN.id, { requests: 3 })
    expect(await other.counted(RUN.id)).toEqual({ requests: 5, pages: 1 })
    await other.withdraw(RUN.id)
    expect(await one.runs()).toEqual([])
    expect(await one.counted(RUN.id)).toEqual({})
    expect(await server.leftovers()).toEqual([])
  })

  onServer('knows who is alive', async () => {
    const one = await open(server.url)
    for (const worker of ['first', 'second', 'second']) await one.sayAlive(worker)
    await one.sayGone('first')
    expect(await one.workers()).toEqual(new Set(['second']))
  })

  onServer('waits for one that is away for a while', async () => {
    const one = await open(server.url)
    await one.withdraw(RUN.id)
    const back = server.restart()
    expect(await one.runs()).toEqual([])
    await back
    await one.announce(RUN)
    expect(await one.runs()).toEqual([RUN])
    await one.withdraw(RUN.id)
  })

  onServer('can be opened by many at once, of whom none found anything there', async () => {
    await server.empty()
    const all = await Promise.all(Array.from({ length: 8 }, () => open(server.url)))
    expect(await Promise.all(all.map((one) => one.runs()))).toEqual(all.map(() => []))
  })
})

const [, { isMissing, start }] = SHARED_SERVERS

describe.skipIf(isMissing)('PostgreSQL as the server that machines share', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.stop())

  test('is refused with another version of our tables while it is used, and made anew then', async () => {
    const one = await openServer(server.url)
    await one.announce(RUN)
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    onTestFinished(() => admin.end())
    const another = "COMMENT ON SCHEMA walletlake_queue IS 'walletlake another'"
    await admin.query(another)
    await expect(openServer(server.url)).rejects.toMatchObject({
      code: 'QUEUE_UNAVAILABLE',
      message: expect.stringContaining('another version of walletlake uses the schema walletlake_queue'),
    })
    await one.withdraw(RUN.id)
    await one.close()
    expect(await (await open(server.url)).runs()).toEqual([])
  })

  test('is refused with a wrong password, which is not said', async () => {
    const url = new URL(server.url)
    url.password = 'another-secret'
    const opened = openServer(url.href)
    await expect(opened).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' })
    await expect(opened).rejects.not.toThrow(/another-secret/)
  })
})

test.for(['redis', 'postgres'])(
  'a server that is not there is named, without user and password (%s)',
  async (kind) => {
    const opened = openServer(`${kind}://me:secret@localhost:${NOBODYS_PORT}/db`)
    await expect(opened).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' })
    await expect(opened).rejects.toThrow(
      /^the queue at localhost:1 cannot be used: connect ECONNREFUSED[^@]+$/,
    )
  },
)
