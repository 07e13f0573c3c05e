import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { run } from '../../src/export/run.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import { testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { demoWallets, nodeData } from '../helpers/node-data.ts'
import { readCsvTable, readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const DETAILS = /\/transactions\/0x[0-9a-f]{64}$/

async function startService(quirks: readonly 'fee-cap'[] = ['fee-cap']) {
  const { url, requests } = await startLoopback(createDataService({ quirks }))
  const service = { baseUrl: url, apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000 }
  return { service, details: () => requests.filter(({ path }) => DETAILS.test(path)).map(({ path }) => path) }
}

test('native ledgers equal the balances of the node although the listing shows fee caps', async () => {
  const { service, details } = await startService()
  const output = tempFolder()
  const job = testJob({
    addresses: demoWallets,
    output,
    service,
    feesBudget: 5_000,
    tables: ['transactions', 'ledger'],
  })
  const { code } = await run([job])
  expect(code).toBeUndefined()
  const sums = new Map<string, bigint>()
  for (const { asset_type, wallet_address = '', value = '' } of await readCsvTable(output, 'ledger'))
    if (asset_type === 'native') sums.set(wallet_address, (sums.get(wallet_address) ?? 0n) + BigInt(value))
  for (const [address, balances] of Object.entries(nodeData.nativeByBlock)) {
    const [first, last] = [BigInt(balances[0]?.[1] ?? ''), BigInt(balances.at(-1)?.[1] ?? '')]
    expect([address, first + (sums.get(address.toLowerCase()) ?? 0n)]).toEqual([address, last])
  }
  const capped = (await readCsvTable(output, 'transactions')).filter((row) => row.transaction_type === '2')
  expect(details().sort()).toEqual(
    capped.map((row) => `/v1/chains/43114/transactions/${row.transaction_hash}`).sort(),
  )
  expect(readManifest(output)).toMatchObject({ job: { fees: 'exact' } })
  expect(readManifest(output)).not.toHaveProperty('feesUpperBound')
  expect((await verifyOutput(output)).problems).toEqual([])
})
