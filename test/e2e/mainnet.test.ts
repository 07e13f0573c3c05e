import { beforeAll, expect, test } from 'vitest'
import { run } from '../../src/export/run.ts'
import { testJob } from '../helpers/jobs.ts'
import { type FullTransaction, MAINNET_BLOCKS, mainnetTransactions } from '../helpers/mainnet-blocks.ts'
import { readCsvTable } from '../helpers/read-output.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'

const folder = suiteFolder()

beforeAll(async () => {
  const job = testJob({ ...MAINNET_BLOCKS, output: folder })
  expect((await run([job])).code).toBeUndefined()
})

test('exports the 298 transactions of two mainnet blocks exactly', async () => {
  const rows = await readCsvTable(folder, 'transactions')
  const native = mainnetTransactions.map(
    ({ nativeTransaction: { txHash, txStatus, value, gasUsed, gasPrice } }) => {
      return [txHash.toLowerCase(), txStatus, value, (BigInt(gasUsed) * BigInt(gasPrice)).toString()]
    },
  )
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
  const expected = mainnetTransactions.flatMap((item) =>
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
    mainnetTransactions.filter(({ nativeTransaction }) => nativeTransaction.txStatus === '0').map(hashOf),
  )
  const rows = (await readCsvTable(folder, 'ledger')).filter((row) => failed.has(row.transaction_hash ?? ''))
  expect(rows.map((row) => row.entry_type)).toEqual(Array(9).fill('fee'))
})

function hashOf({ nativeTransaction }: FullTransaction): string {
  return nativeTransaction.txHash.toLowerCase()
}
