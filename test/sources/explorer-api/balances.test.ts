import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import { listen } from '../../../src/demo-server/listen.ts'
import { reconcileOutput } from '../../../src/verify/reconcile/reconcile.ts'
import { runCommand } from '../../helpers/command.ts'
import { exportDemo } from '../../helpers/demo-export.ts'
import { smallWallets } from '../../helpers/node-data.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'

const folder = suiteFolder()
const FEW = smallWallets.slice(0, 6)
const outputOf = (api: string) => join(folder, api)
const service = (api: 'etherscan' | 'blockscout') => ({
  baseUrl: 'demo',
  apiKeyHeader: 'x-service-api-key',
  timeoutMs: 120_000,
  api,
})

describe('reconcile with the balances of an explorer', () => {
  beforeAll(async () => {
    for (const api of ['etherscan', 'blockscout'] as const)
      await exportDemo(outputOf(api), { addresses: FEW, service: service(api) })
  })

  test('compares the coin at a block if the explorer knows it, with the balances at genesis', async () => {
    let predicted = 0
    const verdict = await reconcileOutput(outputOf('blockscout'), {
      service: service('blockscout'),
      onStart: ({ requests }) => {
        predicted = requests
      },
    })
    // The balances at genesis are requested for wallets that differ.
    expect(verdict.requests - verdict.genesisWallets).toBe(predicted)
    expect(verdict.balances.native.different).toBe(0)
    expect(verdict.wallets).toMatchObject({ selected: FEW.length, compared: FEW.length })
    expect(verdict.skipped.map(({ kind, why }) => [kind, why])).toEqual([
      ['erc721', 'not-offered'],
      ['erc1155', 'not-offered'],
    ])
  })

  test('compares current balances otherwise, so that coins at genesis remain as differences', async () => {
    const exact = await reconcileOutput(outputOf('blockscout'), { service: service('blockscout'), all: true })
    const verdict = await reconcileOutput(outputOf('etherscan'), { service: service('etherscan') })
    expect(verdict.balances.native.different).toBe(exact.genesisWallets)
    expect(verdict.balances.erc20).toEqual(exact.balances.erc20)
  })

  test('compares current balances with opening balances, which add the coins at genesis', async () => {
    const { rows } = await reconcileOutput(outputOf('etherscan'), { service: service('etherscan') })
    const coins = rows.filter(({ asset_type }) => asset_type === 'native')
    expect(coins[0]?.likely_cause).toContain('add them with --opening FILE')
    const opening = join(folder, 'opening.csv')
    const lines = coins.map(({ wallet_address, difference }) => `${wallet_address},native,,,${difference}`)
    writeFileSync(
      opening,
      ['wallet_address,asset_type,asset_address,token_id,value', ...lines, ''].join('\n'),
    )
    const verdict = await reconcileOutput(outputOf('etherscan'), { service: service('etherscan'), opening })
    expect(verdict.balances.native).toMatchObject({ compared: FEW.length, different: 0 })
  })

  test('compares tokens although the explorer has not processed the newest blocks', async () => {
    const quirks = { api: 'blockscout' as const, explorerQuirks: ['late-internals' as const] }
    const { url, close } = await listen(createDataService(quirks), { port: 0 })
    onTestFinished(() => close())
    const access = { baseUrl: url, api: 'blockscout' as const }
    const verdict = await reconcileOutput(outputOf('blockscout'), { service: access })
    expect(verdict.balances.erc20.compared).toBeGreaterThan(10)
  })

  test('skips balances of which only current ones are known if transactions followed the exported blocks', async () => {
    const output = outputOf('until-200')
    const [address = ''] = FEW
    await exportDemo(output, { service: service('etherscan'), addresses: [address], endBlock: 200 })
    const result = reconcileOutput(output, { service: service('etherscan') })
    await expect(result).rejects.toMatchObject({
      code: 'BALANCES_UNAVAILABLE',
      message: expect.stringContaining('transactions followed the exported blocks'),
      fix: expect.stringContaining('younger than finality'),
    })
  })

  test('asks for opening balances if only current ones are known and the export begins after block 0', async () => {
    const output = outputOf('from-100')
    const [address = ''] = FEW
    await exportDemo(output, { service: service('etherscan'), addresses: [address], startBlock: 100 })
    await expect(reconcileOutput(output, { service: service('etherscan') })).rejects.toMatchObject({
      code: 'BALANCES_UNAVAILABLE',
      fix: expect.stringContaining('--opening FILE'),
    })
  })

  test('takes the API of another address from --api or WALLETLAKE_API', async () => {
    const { url, close } = await listen(createDataService({ api: 'etherscan' }), { port: 0 })
    onTestFinished(() => close())
    const words = ['reconcile', outputOf('etherscan'), '--base-url', url]
    const differences = { exit: 10, stderr: expect.stringContaining('VERIFY_FAILED: ') }
    expect(await runCommand([...words, '--api', 'etherscan'])).toMatchObject(differences)
    expect(await runCommand(words, { WALLETLAKE_API: 'etherscan' })).toMatchObject(differences)
    const misspelt = await runCommand(words, { WALLETLAKE_API: 'etherscann' })
    expect(misspelt.stderr).toContain('WALLETLAKE_API: found etherscann, expected one of data-api, etherscan')
  })
})

test('a refused key ends reconcile without retries of the requests in flight', async () => {
  const server = await listen(createDataService({ api: 'blockscout', keys: ['right'] }), { port: 0 })
  onTestFinished(() => server.close())
  const output = outputOf('blockscout')
  await exportDemo(output, { addresses: FEW, service: service('blockscout') })
  const details: string[] = []
  const access = { baseUrl: server.url, apiKey: 'wrong', api: 'blockscout' as const }
  const reconciling = reconcileOutput(output, {
    service: { ...access, onDetail: (detail) => details.push(detail) },
  })
  await expect(reconciling).rejects.toMatchObject({ code: 'KEY_REFUSED' })
  // Retries are reported one event-loop turn after their requests fail.
  await setImmediate()
  expect(details.filter((detail) => /retry/.test(detail))).toEqual([])
})
