import { expect, test } from 'vitest'
import type { TableName } from '../../src/core/table/index.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { defineJob, type JobFields, type Reject, rows } from '../../src/index.ts'
import { blockOf, chainBlocks } from '../helpers/blocks-run.ts'
import { faultWhere, withChangedBlockPage } from '../helpers/faults.ts'
import { type Fault, startLoopback } from '../helpers/loopback.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const fields = { kind: 'blocks', chain: 43114, startBlock: 230, endBlock: 245 } satisfies JobFields

/** Collects the hashes of all rows, and the error that ends the iteration. */
async function collect({ fault, given = {}, table = 'transactions' as TableName }: Collecting = {}) {
  const { url } = await startLoopback(createDataService({ head: 420 }), fault)
  const job = await defineJob({ ...fields, ...given, service: { baseUrl: url } })
  const rejects: Reject[] = []
  const hashes: string[] = []
  const options = { folder: tempFolder(), onReject: (reject: Reject) => void rejects.push(reject) }
  const reading = async () => {
    for await (const row of rows(job, table, options)) hashes.push(row.transaction_hash)
  }
  return { error: await reading().catch((thrown: unknown) => thrown), hashes, rejects }
}

type Collecting = { fault?: Fault; given?: Partial<JobFields>; table?: TableName }

const hashesOf = (from: number, to: number) =>
  chainBlocks
    .slice(from, to)
    .flatMap(({ transactions }) => transactions.map((native) => String(native.txHash).toLowerCase()))

test('yields the rows of whole blocks', async () => {
  const { hashes, error } = await collect()
  expect(error).toBeUndefined()
  expect(hashes).toEqual(hashesOf(230, 245))
})

test('yields all rows before it fails because of missing blocks', async () => {
  const { hashes, error } = await collect({ given: { startBlock: 415, endBlock: 430 } })
  expect(hashes).toEqual(hashesOf(415, 421))
  expect(error).toMatchObject({
    code: 'BLOCKS_MISSING',
    message: 'all rows were returned, but 9 blocks are missing: [421, 430)',
  })
})

test('reports a rejected transaction of a block', async () => {
  const spoil = withChangedBlockPage(({ transactions: [first, ...others], ...page }) => ({
    ...page,
    transactions: [{ ...first, value: 'x' }, ...others],
  }))
  const fault = faultWhere((request) => blockOf(request) === 240, spoil)
  const { hashes, rejects } = await collect({ fault })
  expect(hashes).toHaveLength(hashesOf(230, 245).length - 1)
  expect(rejects).toMatchObject([{ wallet: 'blocks', reason: expect.stringContaining('value') }])
})

test('rejects tables that block jobs do not have', async () => {
  const { error } = await collect({ table: 'ledger' })
  expect(error).toMatchObject({ code: 'USAGE', message: 'a blocks job has no table ledger' })
})
