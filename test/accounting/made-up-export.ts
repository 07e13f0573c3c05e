import { expect } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { JsonObject } from '../../src/demo-server/json.ts'
import { listen } from '../../src/demo-server/listen.ts'
import { run } from '../../src/export/run.ts'
import { testJob } from '../helpers/jobs.ts'
import { WALLETS } from './made-up-transactions.ts'

/** Exports the two wallets with labels that need quoting, or one of them, from a data service that serves the given transactions. */
export async function exportMadeUp(
  output: string,
  transactions: readonly JsonObject[],
  chain = 'made',
  { wallets = WALLETS, nativeSymbol = 'AVAX', endBlock = 200 } = {},
): Promise<void> {
  const made = await listen(createDataService({ chains: { [chain]: transactions } }), { port: 0 })
  try {
    const service = { baseUrl: made.url }
    const fields = { chain, endBlock, nativeSymbol, output, service }
    const job = { ...testJob({ addresses: [], ...fields }), wallets }
    expect((await run([job])).code).toBeUndefined()
  } finally {
    await made.close()
  }
}
