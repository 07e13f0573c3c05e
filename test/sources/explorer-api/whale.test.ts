// @module-tag long

import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import { type ListeningService, listen } from '../../../src/demo-server/listen.ts'
import { run } from '../../../src/export/run.ts'
import { testJob } from '../../helpers/jobs.ts'
import { readCsvTable, readManifest } from '../../helpers/read-output.ts'
import { addressOf, syntheticErc20, syntheticInternal, syntheticItem } from '../../helpers/synthetic-chain.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'

/** The number of transactions. SOAK_WHALE sets another one, such as 60,000. */
const TRANSACTIONS = Number(process.env.SOAK_WHALE ?? 4_567)
const WALLET = addressOf('whale')
const folder = suiteFolder()

/** Several transactions per block, so that windows end within blocks. */
const chain = Array.from({ length: TRANSACTIONS }, (_, at) =>
  syntheticItem(
    at,
    { block: 1_000 + Math.floor(at / 7), blockIndex: at % 7, from: { address: WALLET }, value: '1' },
    {
      erc20Transfers: at % 2 === 0 ? [syntheticErc20(at % 7, WALLET, addressOf('friend'))] : [],
      internalTransactions: at % 5 === 0 ? [syntheticInternal(addressOf('router'), WALLET)] : [],
    },
  ),
)

/** What the listings have, and how many records of them a block has at most. */
const LISTINGS = [
  { table: 'transactions', count: TRANSACTIONS, perBlock: 7 },
  { table: 'erc20_transfers', count: Math.ceil(TRANSACTIONS / 2), perBlock: 4 },
  { table: 'internal_transactions', count: Math.ceil(TRANSACTIONS / 5), perBlock: 2 },
] as const

/** Each window may end with a block that is read again; the listings of ERC-721 and ERC-1155 transfers are empty. */
const fewestRequests = (window: number) =>
  LISTINGS.reduce((sum, { count, perBlock }) => sum + Math.ceil(count / (window - perBlock)), 2)

async function exportWhale(service: ListeningService, concurrency: number) {
  const output = join(folder, `${service.url.replace(/\W/g, '')}-${concurrency}`)
  const { jobs, code } = await run([
    testJob({
      addresses: [WALLET],
      output,
      concurrency,
      endBlock: 1_000 + TRANSACTIONS,
      service: { baseUrl: service.url, apiKeyHeader: 'x', timeoutMs: 120_000, api: 'etherscan' },
    }),
  ])
  expect(code).toBeUndefined()
  return { output, requests: jobs[0]?.stats.requests ?? 0 }
}

describe.for([
  { quirk: undefined, window: 10_000 },
  { quirk: 'free-plan' as const, window: 1_000 },
])('a wallet with many transactions, in windows of $window records', ({ quirk, window }) => {
  test('is the same export at any concurrency, with each transaction once and as few requests as possible', async () => {
    const files = new Set<string>()
    const service = await listen(
      createDataService({ api: 'etherscan', chains: { 43114: chain }, explorerQuirks: quirk ? [quirk] : [] }),
      { port: 0 },
    )
    try {
      for (const concurrency of [1, 4, 16]) {
        const { output, requests } = await exportWhale(service, concurrency)
        for (const { table, count } of LISTINGS) {
          const rows = await readCsvTable(output, table)
          expect({ table, rows: rows.length }).toEqual({ table, rows: count })
        }
        const hashes = new Set(
          (await readCsvTable(output, 'transactions')).map((row) => row.transaction_hash),
        )
        expect(hashes.size).toBe(TRANSACTIONS)
        // One small request finds out whether the service responds for the wallet, and another whether it has indexed endBlock.
        expect(requests).toBeLessThanOrEqual(fewestRequests(window) + 2)
        files.add(JSON.stringify(readManifest(output).tables))
      }
      expect(files.size).toBe(1)
    } finally {
      await service.close()
    }
  })
})
