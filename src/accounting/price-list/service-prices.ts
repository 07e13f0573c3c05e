import { DEFAULT_API } from '../../core/model/api.ts'
import { limitConcurrency } from '../../core/platform/limit-concurrency.ts'
import { NATIVE } from '../../ledger/prices/prices.ts'
import { createMeter } from '../../sources/data-api/compute-units.ts'
import { openService } from '../../sources/data-api/open-service.ts'
import { readCoinPrice } from '../../sources/data-api/read-coin-price.ts'
import { SERVICE_CLIENT_DEFAULTS } from '../../sources/data-api/service-client.ts'
import type { PricePoint, PriceSource } from './price-source.ts'

/**
 * The data service of the export: the price of the native coin is stated by the details of one transaction of each day. A
 * day without a transaction has none, and so have all days with a service of another API, which states no prices.
 */
export const SERVICE: PriceSource = {
  name: 'service',
  currencies: ['USD'],
  find: async ({ exported, points, days, access, add, onOpened, onStart, onProgress }) => {
    const { api = DEFAULT_API, onNotice } = access
    const coins = points.flatMap((point) => {
      const day = point.asset === NATIVE ? days.get(point.date) : undefined
      return day === undefined ? [] : [{ point, day }]
    })
    if (coins.length > 0 && api !== DEFAULT_API)
      onNotice?.(`the API ${api} states no prices: those of the coin are left to fill in`)
    if (coins.length === 0 || api !== DEFAULT_API) return
    const service = await openService(access)
    onOpened(service.counts)
    const { costs } = createMeter(access)
    const units = coins.length * costs.transaction
    onStart({ source: 'service', requests: coins.length, computeUnits: units, prices: coins.length })
    const limit = limitConcurrency(access.concurrency ?? SERVICE_CLIENT_DEFAULTS.concurrency)
    const chainId = exported.opened.manifest.job.chain
    const failures: unknown[] = []
    let answers = 0
    const askDay = async ({ point, day }: { point: PricePoint; day: { hash: string; time: string } }) => {
      if (failures.length > 0) return
      const stated = await readCoinPrice(service.client, { chainId, txHash: day.hash }, service.signal)
      const { hash: transaction, time } = day
      add(point, stated && { ...stated, source: 'transaction details', transaction, time })
      answers += 1
      onProgress(answers)
    }
    try {
      await Promise.all(
        coins.map((coin) => limit(() => askDay(coin).catch((thrown: unknown) => void failures.push(thrown)))),
      )
      if (failures.length > 0) throw failures[0]
    } finally {
      await service.close()
    }
  },
}
