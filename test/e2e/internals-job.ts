import type { Job } from '../../src/core/model/model.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { testJob } from '../helpers/jobs.ts'
import { type Fault, type Loopback, startLoopback } from '../helpers/loopback.ts'
import { readCsvTable } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

export const TABLES = ['transactions', 'internal_transactions', 'wallet_transactions', 'ledger'] as const
/** It takes part in transactions only as the receiver of internal transactions. */
export const RECEIVER = '0x48a0b31dd707cfb02cbc8706fe88c676630a796b'
/** A contract that sends and receives hundreds of internal transactions. */
export const CONTRACT = '0xf24cfea53992bf5aada7300f4c74f79e1d9695c3'
/** Wallets with such receipts. */
export const RECEIVERS = [
  RECEIVER,
  '0x4c95db2e1100eaf6dbb786ae0938e3f5c1861b01',
  '0xbc7e6521f269a3a2d8178e65bdb0a4a7d26891b7',
]
export const SMALL = [...RECEIVERS, CONTRACT]

type Given = Partial<Omit<Job, 'wallets'>> & { addresses?: readonly string[] }

export function jobOf({ url }: Pick<Loopback, 'url'>, fields: Given = {}): Job {
  return testJob({
    addresses: SMALL,
    output: tempFolder(),
    internals: 'full',
    fees: 'listed',
    tables: TABLES,
    service: { baseUrl: url },
    ...fields,
  })
}

/** Starts a service whose listing lacks receipts of internal transactions. */
export const startQuirky = (options: { head?: () => number } = {}, fault?: Fault) =>
  startLoopback(createDataService({ quirks: ['no-internal-receipts'], ...options }), fault)

export const rowsOf = (output: string) =>
  Promise.all(
    TABLES.map(async (table) => (await readCsvTable(output, table)).map((row) => JSON.stringify(row)).sort()),
  )

/** Answers with 404, or another status. */
export const refuseWith =
  (status = 404): ReturnType<Fault> =>
  (response) => {
    response.writeHead(status).end('{"message":"not supported"}')
  }
