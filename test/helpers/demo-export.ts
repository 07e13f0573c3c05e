import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject } from 'vitest'
import { run } from '../../src/export/run.ts'
import { type TestFields, testJob } from './jobs.ts'
import { demoWallets, nodeData } from './node-data.ts'

/** A job of the two blocks of Ethereum that the embedded server has. */
export const ETHEREUM = {
  chain: '1',
  nativeSymbol: 'ETH',
  startBlock: 17_173_049,
  endBlock: 17_173_051,
} as const

type DemoJobOptions = TestFields & { addresses?: readonly string[] }

/**
 * Exports wallets of the demo chain into a folder, by default all 53. A new folder gets a copy of the export of the same job
 * if a test file of this run has made one.
 */
export async function exportDemo(output: string, options: DemoJobOptions = {}): Promise<void> {
  if (existsSync(output) && readdirSync(output).length > 0) return exportInto(output, options)
  // An option that is undefined overrides a default.
  const settings = JSON.stringify(options, (_, value: unknown) => (value === undefined ? 'undefined' : value))
  const key = createHash('sha256').update(settings).digest('hex')
  const shared = join(inject('sharedExports'), key)
  if (!existsSync(shared)) await exportShared(shared, options)
  cpSync(shared, output, { recursive: true })
}

/** Test files that need the same export at the same time each make it. The first one to finish is kept. */
async function exportShared(shared: string, options: DemoJobOptions): Promise<void> {
  const own = mkdtempSync(`${shared}-`)
  await exportInto(join(own, 'out'), options)
  try {
    renameSync(join(own, 'out'), shared)
  } catch (thrown) {
    if (!existsSync(shared)) throw thrown
  }
  rmSync(own, { recursive: true })
}

async function exportInto(output: string, options: DemoJobOptions): Promise<void> {
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
