import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../../../src/export/run.ts'
import { expectValid } from '../../helpers/expect-valid.ts'
import { testJob } from '../../helpers/jobs.ts'
import { startLoopback } from '../../helpers/loopback.ts'
import { readCsvTable, readManifest } from '../../helpers/read-output.ts'
import { addressOf, syntheticErc20, syntheticItem } from '../../helpers/synthetic-chain.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'
import { changingExplorer, checkChangingExplorer } from './changing-explorer.ts'

const WALLETS = [addressOf('alice'), addressOf('bob')]
const chain = Array.from({ length: 20 }, (_, at) => {
  const to = WALLETS[at % 2] ?? ''
  return syntheticItem(
    at,
    { block: 1_000 + at, to: { address: to }, value: '1' },
    { erc20Transfers: [syntheticErc20(0, addressOf('router'), to)] },
  )
})

test.for([undefined, 1_020])(
  'a listing that an explorer lacks is a gap until it has it, with endBlock %s',
  async (endBlock) => {
    const explorer = changingExplorer('etherscan', chain)
    const { url } = await startLoopback(explorer.service)
    const service = { baseUrl: url, apiKeyHeader: 'x', timeoutMs: 30_000, api: 'etherscan' as const }
    const job = testJob({ addresses: WALLETS, output: join(tempFolder(), 'out'), endBlock, service })
    const runOnce = async () => {
      const before = explorer.requests()
      const { code, jobs } = await run([job])
      const tokens = (await readCsvTable(job.output, 'erc20_transfers')).length
      const transactions = (await readCsvTable(job.output, 'transactions')).length
      const state = jobs[0]?.state
      return { code, state, tokens, transactions, requests: explorer.requests() - before }
    }
    explorer.change({ withoutListings: ['tokentx'] })
    const incomplete = { code: 'LISTINGS_INCOMPLETE', state: 'incomplete', tokens: 0, transactions: 20 }
    expect(await runOnce()).toMatchObject(incomplete)
    const reason = 'the service answered: Error! Missing Or invalid Action name'
    expect(readManifest(job.output).coverage.map((wallet) => wallet.gaps)).toEqual(
      readManifest(job.output).coverage.map(({ toBlock }) => [
        { listing: 'tokentx', fromBlock: 0, toBlock, reason },
      ]),
    )
    await expectValid(job.output)
    // Without new blocks, one request finds out for all wallets whether the listing exists now.
    const again = await runOnce()
    expect(again).toMatchObject(incomplete)
    expect(again.requests).toBe(endBlock === undefined ? WALLETS.length * 5 + 1 : 1)
    explorer.change({})
    expect(await runOnce()).toMatchObject({ code: undefined, tokens: 20, transactions: 20 })
    expect(readManifest(job.output).coverage.some((wallet) => 'gaps' in wallet)).toBe(false)
    await expectValid(job.output)
    expect((await runOnce()).code).toBeUndefined()
  },
)

test('nothing is missing inside claimed coverage, however an explorer changes, seed 1', () =>
  checkChangingExplorer(1))

/** Random worlds; more with this variable. */
const SEEDS = Number(process.env.SOAK_SEEDS ?? 4)

test.for(Array.from({ length: SEEDS }, (_, at) => at + 2))(
  'nothing is missing inside claimed coverage, however an explorer changes, seed %i',
  { tags: ['long'] },
  (seed) => checkChangingExplorer(seed),
)
