import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { run } from '../../src/export/run.ts'
import { testJob } from '../helpers/jobs.ts'
import { readCsvTable } from '../helpers/read-output.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'

const source = new URL('../../src/demo-server/chains/1/transactions-full.ndjson.gz', import.meta.url)
type Entry = { logIndex: number; value?: string }
type Full = {
  nativeTransaction: { txHash: string; txStatus: string; gasUsed: string; gasPrice: string; value: string }
  erc20Transfers: Entry[]
  erc721Transfers: Entry[]
  erc1155Transfers: Entry[]
}
const full = gunzipSync(readFileSync(source))
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Full)
const folder = suiteFolder()

/** All parties: in one job, their partial views add up to the whole blocks. */
const addresses = [
  ...new Set(full.flatMap((item) => JSON.stringify(item).match(/"address":"(0x[0-9a-fA-F]{40})"/g) ?? [])),
].map((match) => match.slice(11, 53).toLowerCase())

beforeAll(async () => {
  const range = { startBlock: 17_173_049, endBlock: 17_173_051 }
  const job = testJob({
    addresses: [...new Set(addresses)],
    output: folder,
    chain: '1',
    concurrency: 32,
    ...range,
  })
  expect((await run([job])).code).toBeUndefined()
})

test('exports the 298 transactions of two mainnet blocks exactly', async () => {
  const rows = await readCsvTable(folder, 'transactions')
  const native = full.map(({ nativeTransaction: { txHash, txStatus, value, gasUsed, gasPrice } }) => {
    return [txHash.toLowerCase(), txStatus, value, (BigInt(gasUsed) * BigInt(gasPrice)).toString()]
  })
  expect(rows.map((row) => [row.transaction_hash, row.status, row.value, row.transaction_fee])).toEqual(
    native,
  )
  expect(rows).toHaveLength(298)
})

test.for([
  { table: 'erc20_transfers', list: 'erc20Transfers', count: 282 },
  { table: 'erc721_transfers', list: 'erc721Transfers', count: 9 },
  { table: 'erc1155_transfers', list: 'erc1155Transfers', count: 1 },
] as const)('exports $count entries to $table, each once', async ({ table, list, count }) => {
  const rows = await readCsvTable(folder, table)
  const expected = full.flatMap((item) =>
    item[list].map(({ logIndex, value }) => [
      item.nativeTransaction.txHash.toLowerCase(),
      String(logIndex),
      value,
    ]),
  )
  expect(rows.map((row) => [row.transaction_hash, row.log_index, row.value])).toEqual(expected)
  expect(rows).toHaveLength(count)
})

test('charges every failed transaction its fee and nothing else', async () => {
  const failed = new Set(
    full.filter(({ nativeTransaction }) => nativeTransaction.txStatus === '0').map(hashOf),
  )
  const rows = (await readCsvTable(folder, 'ledger')).filter((row) => failed.has(row.transaction_hash ?? ''))
  expect(rows.map((row) => row.entry_type)).toEqual(Array(9).fill('fee'))
})

function hashOf({ nativeTransaction }: Full): string {
  return nativeTransaction.txHash.toLowerCase()
}
