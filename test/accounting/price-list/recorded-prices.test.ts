import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fetchPrices } from '../../../src/accounting/price-list/fetch-prices.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { exportMadeUp } from '../made-up-export.ts'
import { ANN, address, createChain } from '../made-up-transactions.ts'
import { llamaAnswer, serveAnswers } from './serve-answers.ts'

const folder = suiteFolder()
const USDC = {
  address: '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e',
  name: 'USDC',
  symbol: 'USDC',
  decimals: 6,
}

/** An export of one chain, whose only transaction is at this time. */
async function exportAt(chain: string, at: string): Promise<string> {
  const { transaction, erc20 } = createChain(chain)
  const parties = [address('3'), ANN] as const
  const output = join(folder, chain)
  await exportMadeUp(
    output,
    [transaction({ at, parties, value: 1n }, { erc20: [erc20(USDC, parties, 1n)] })],
    chain,
  )
  return output
}

const OPTIONS = { currency: 'usd', service: { baseUrl: undefined, retry: { retries: 0 } } }

/**
 * What DefiLlama answered, by coin and the time asked for. The coins: requests of `/prices/historical`, whose records are those of
 * `/batchHistorical` (DefiLlama/defillama-server 0208370), as recorded in rotki/test-caching eb86a80 (test_data_import_binance_history and
 * test_matic_pol_hardforked_price). The token: the example in DefiLlama's documentation of `/batchHistorical`.
 */
const LLAMA_RECORDS = {
  'coingecko:binancecoin 1604437979': { timestamp: 1604437689, price: 26.765469766407215 },
  'coingecko:matic-network 1724451200': { timestamp: 1724450278, price: 0.540342, confidence: 0.99 },
  [`avax:${USDC.address} 1666876743`]: { timestamp: 1666876674, price: 0.999436, confidence: 0.99 },
}

test.for([
  ['56', '2020-11-03T21:12:59.000Z', 'native', '26.765469766407215', '2020-11-03T21:08:09.000Z'],
  ['137', '2024-08-23T22:13:20.000Z', 'native', '0.540342', '2024-08-23T21:57:58.000Z'],
  ['43114', '2022-10-27T13:19:03.000Z', USDC.address, '0.999436', '2022-10-27T13:17:54.000Z'],
])(
  'DefiLlama states a price on chain %s at %s as it was recorded',
  async ([chain = '', at = '', asset, price, time]) => {
    const output = await exportAt(chain, at)
    const records = new Map(Object.entries(LLAMA_RECORDS))
    const { url } = await serveAnswers(llamaAnswer((coin, seconds) => records.get(`${coin} ${seconds}`)))
    const env = { WALLETLAKE_DEFILLAMA_URL: url }
    const { lines, error } = await fetchPrices(output, { ...OPTIONS, sources: ['defillama'], env })
    expect(error).toBeUndefined()
    expect(lines.find((line) => line.asset === asset)).toMatchObject({ price, time, source: 'defillama' })
  },
)

/**
 * Prices at 00:00 UTC that CoinGecko stated: of ether on 2024-01-01 in answer to `/coins/ethereum/history`, as recorded in
 * rotki/test-caching eb86a80 (test_coingecko_historical_price), and the next one made up. A range of past days has one price a
 * day, at its start, as in nathanramoscfa/pycgapi e8a96b7 (coins_contract_address_mock).
 */
const GECKO_RECORDS = [
  [1_704_067_200_000, 2279.9410085689606],
  [1_704_153_600_000, 2300],
]

test('CoinGecko states the price of a day as it was recorded', async () => {
  const output = await exportAt('1', '2024-01-01T12:00:00.000Z')
  const { url, requests } = await serveAnswers(() =>
    JSON.stringify({ prices: GECKO_RECORDS, market_caps: [] }),
  )
  const env = { WALLETLAKE_COINGECKO_URL: url, COINGECKO_API_KEY: 'CG-demo-key-of-a-test' }
  const now = Date.parse('2024-06-01')
  const { lines } = await fetchPrices(output, { ...OPTIONS, sources: ['coingecko'], env, now })
  expect(requests.map(({ path }) => path)).toContain('/coins/ethereum/market_chart/range')
  expect(lines.find(({ asset }) => asset === 'native')).toMatchObject({
    price: '2279.9410085689606',
    time: '2024-01-01T00:00:00.000Z',
  })
})
