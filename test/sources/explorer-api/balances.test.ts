import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import { listen } from '../../../src/demo-server/listen.ts'
import { reconcileOutput } from '../../../src/verify/reconcile/reconcile.ts'
import { exportDemo } from '../../helpers/demo-export.ts'
import { demoWallets } from '../../helpers/node-data.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'

const folder = suiteFolder()
const outputOf = (api: string) => join(folder, api)
const service = (api: 'etherscan' | 'blockscout') => ({
  ...{ baseUrl: 'demo', apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000, api },
})

describe('reconcile with the balances of an explorer', () => {
  beforeAll(async () => {
    await exportDemo(outputOf('etherscan'), { service: service('etherscan') })
    await exportDemo(outputOf('blockscout'), { service: service('blockscout') })
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
    expect(verdict.wallets).toMatchObject({ selected: demoWallets.length, compared: demoWallets.length })
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

  test('skips balances of which only current ones are known if transactions followed the exported blocks', async () => {
    const output = outputOf('until-200')
    const [address = ''] = demoWallets
    await exportDemo(output, { service: service('etherscan'), addresses: [address], endBlock: 200 })
    const result = reconcileOutput(output, { service: service('etherscan') })
    await expect(result).rejects.toMatchObject({ code: 'BALANCES_UNAVAILABLE' })
  })
})

test('a refused key ends reconcile without retries of the requests in flight', async () => {
  const server = await listen(createDataService({ api: 'blockscout', keys: ['right'] }), { port: 0 })
  onTestFinished(() => server.close())
  const output = outputOf('blockscout')
  await exportDemo(output, { service: service('blockscout') })
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
