import { expect } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { run } from '../../src/export/run.ts'
import { testJob } from './jobs.ts'
import { demoWallets, nodeData } from './node-data.ts'

type DemoJobOptions = Partial<Omit<Job, 'wallets'>> & { addresses?: readonly string[] }

/** Exports wallets of the demo chain into a folder, by default all 53. */
export async function exportDemo(output: string, options: DemoJobOptions = {}): Promise<void> {
  const { code } = await run([testJob({ addresses: demoWallets, nativeSymbol: 'AVAX', output, ...options })])
  expect(code).toBeUndefined()
}

/** The genesis balances of all accounts according to the node, as CSV for `--opening`. */
export function genesisCsv(): string {
  const lines = Object.entries(nodeData.nativeByBlock).map(
    ([wallet, balances]) => `${wallet},native,,,${balances[0]?.[1] ?? '0'}`,
  )
  return ['wallet_address,asset_type,asset_address,token_id,value', ...lines, ''].join('\n')
}
