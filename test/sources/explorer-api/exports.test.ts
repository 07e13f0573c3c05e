import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Api } from '../../../src/core/model/api.ts'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import { listen } from '../../../src/demo-server/listen.ts'
import type { ExplorerQuirk } from '../../../src/demo-server/quirks.ts'
import { run } from '../../../src/export/run.ts'
import { balances } from '../../../src/ledger/balances/balances.ts'
import { exportDemo, genesisCsv } from '../../helpers/demo-export.ts'
import { expectValid } from '../../helpers/expect-valid.ts'
import { expectEqualColumns } from '../../helpers/explorer-columns.ts'
import { testJob } from '../../helpers/jobs.ts'
import { nodeBalances, unreconcilable, valuesOf } from '../../helpers/node-balances.ts'
import { demoWallets, smallWallets } from '../../helpers/node-data.ts'
import { readManifest } from '../../helpers/read-output.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'

const folder = suiteFolder()
const FEW = smallWallets.slice(0, 6)
const DATA_API = join(folder, 'data-api')
const DATA_API_SOME = join(folder, 'data-api-some')

test.for(['etherscan', 'blockscout'] as const)(
  'an export up to an endBlock is final although no wallet has a transaction after it, from %s',
  async (api) => {
    const service = await listen(createDataService({ api }), { port: 0 })
    const access = { baseUrl: service.url, api }
    const quiet = ['0xa72bec28df8988fe9f0f3ff3845345ec163c9fe9']
    const output = join(folder, `quiet-${api}`)
    try {
      const { jobs } = await run([testJob({ output, addresses: quiet, endBlock: 419, service: access })])
      expect(jobs[0]?.stats.endBlock).toBe(419)
      const later = testJob({ output: `${output}-later`, addresses: quiet, endBlock: 500, service: access })
      const { code, jobs: unfinished } = await run([later])
      expect({ code, isFinal: unfinished[0]?.stats.endBlock === 500 }).toEqual({
        code: undefined,
        isFinal: false,
      })
    } finally {
      await service.close()
    }
  },
)

test('a run whose limit of requests cannot complete a page says how many it needs', async () => {
  const service = await listen(createDataService({ api: 'etherscan' }), { port: 0 })
  const output = join(folder, 'limited')
  const access = { baseUrl: service.url }
  const job = testJob({ output, addresses: demoWallets, service: { ...access, api: 'etherscan' } })
  try {
    const { code, jobs } = await run([job], { maxRequests: 4 })
    expect(code).toBe('BUDGET_REACHED')
    expect(jobs[0]?.error?.fix).toContain('--max-requests 5')
    expect(jobs[0]?.stats.requests).toBe(0)
    const { jobs: least } = await run([job], { maxRequests: 1 })
    expect(least[0]?.error?.message).toContain('1 request is left, and the first page of a wallet needs 5')
  } finally {
    await service.close()
  }
})

test('a run ends before the blocks that the explorer has not processed, and the next one continues there', async () => {
  const output = join(folder, 'late')
  const job = { addresses: FEW, endBlock: undefined }
  await exportWith('blockscout', output, { quirk: 'late-internals', job })
  await expectValid(output)
  const ends = readManifest(output).coverage.map(({ toBlock }) => toBlock)
  expect(Math.max(...ends)).toBeLessThanOrEqual(421 - 10)
  await exportDemo(DATA_API_SOME, { addresses: FEW })
  await exportWith('blockscout', output, { quirk: undefined, job })
  await expectEqualColumns(DATA_API_SOME, output, { statesLogIndex: false })
})

type ExportOptions = { quirk: ExplorerQuirk | undefined; job?: Parameters<typeof exportDemo>[1] }

async function exportWith(api: Api, output: string, options: ExportOptions) {
  const service = await listen(
    createDataService({ api, explorerQuirks: options.quirk === undefined ? [] : [options.quirk] }),
    { port: 0 },
  )
  try {
    await exportDemo(output, {
      ...options.job,
      service: { baseUrl: service.url, api },
    })
  } finally {
    await service.close()
  }
}

test('an export from an explorer equals one from the Data API in all columns that both have', async () => {
  const output = join(folder, 'some')
  await exportDemo(DATA_API_SOME, { addresses: FEW })
  await exportWith('etherscan', output, { quirk: undefined, job: { addresses: FEW } })
  await expectValid(output)
  await expectEqualColumns(DATA_API_SOME, output, { statesLogIndex: false })
})

test.for([
  // The plain API of Etherscan is compared above.
  { api: 'etherscan', quirk: 'free-plan' },
  { api: 'blockscout', quirk: undefined },
  { api: 'blockscout', quirk: 'before-9' },
] as const)(
  'all wallets from $api, quirk $quirk, equal the Data API and have the balances of the node',
  { tags: ['long'] },
  async ({ api, quirk }) => {
    const [output, opening] = [join(folder, `${api}-${quirk}`), join(folder, 'genesis.csv')]
    await exportDemo(DATA_API)
    await exportWith(api, output, { quirk })
    await expectValid(output)
    await expectEqualColumns(DATA_API, output, { statesLogIndex: quirk === 'before-9' })
    writeFileSync(opening, genesisCsv())
    const { balances: ofExport } = await balances(output, { opening })
    const explained = ofExport.filter(({ asset_address }) => !unreconcilable.includes(asset_address ?? ''))
    expect(valuesOf(explained)).toEqual(nodeBalances())
    expect(explained.length).toBeGreaterThan(1_000)
  },
)
