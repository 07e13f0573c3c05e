import { describe, expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { run } from '../../src/export/run.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { testJob } from '../helpers/jobs.ts'
import { type Fault, send, startLoopback } from '../helpers/loopback.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { runQueued } from '../helpers/queued-runs.ts'
import { readManifest } from '../helpers/read-output.ts'
import { noRedis, testServer } from '../helpers/shared-servers.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const REFUSED = '0x58a57ed9d8d624cbd12e2c467d34787555bb1b25'
const WALLETS = [
  '0x0d3eb21b6b21833a4939cfff4810e9ae0758e12c',
  REFUSED,
  '0xe42f4612e154153b68e241e8fde337e0c4dd6bbd',
]

const refuseAtomic: Fault = ({ path, query }) =>
  path.startsWith('/v1/networks/') && query.get('addresses') === REFUSED
    ? (response) => send(response, { status: 403, headers: {}, body: '{"message":"no","statusCode":403}' })
    : undefined

describe.skipIf(noRedis)('atomic transactions in a queue run', { tags: ['long'] }, () => {
  const server = testServer()

  test.for([
    { name: 'all listings are served', fault: undefined, code: undefined },
    { name: 'the listing of one wallet is refused', fault: refuseAtomic, code: 'WALLETS_REFUSED' },
  ])('the bytes are those of one machine: $name', async ({ fault, code }) => {
    await server.flush()
    const service = createDataService({ quirks: ['atomic-transfers'] })
    const { url } = await startLoopback(service, fault)
    const jobOf = (): Job =>
      testJob({
        addresses: WALLETS,
        atomic: true,
        fees: 'listed',
        partitionBy: 'blocks:200',
        tables: ['atomic_transactions', 'ledger'],
        output: tempFolder(),
        service: { baseUrl: url },
      })
    const [many, alone] = [jobOf(), jobOf()]
    const queued = await runQueued(server.url, many)
    const plain = await run([alone])
    expect([queued.code, plain.code]).toEqual([code, code])
    expect(queued.figures?.refused).toEqual(plain.jobs[0]?.stats.refused)
    expect(outputBytes(many.output)).toEqual(outputBytes(alone.output))
    await expectValid(many.output)
    expect(readManifest(many.output).tables.atomic_transactions?.rows).toBe(code === undefined ? 40 : 37)
  })
})
