import { basename } from 'node:path'
import { pricedAssetOf, pricedChainOf, readPrices } from '../../ledger/prices/prices.ts'
import type { PriceSource } from './price-source.ts'

/** Another file of prices, in the format of `--prices`. */
export const csvPrices = (file: string): PriceSource => ({
  name: 'csv',
  find: async ({ exported, points, add }) => {
    const prices = await readPrices(file, pricedChainOf(exported.opened))
    const source = `csv:${basename(file)}`
    for (const point of points) {
      const price = prices.at(pricedAssetOf(point.asset), point.time)
      if (price !== undefined) add(point, { price, currency: prices.currency, source })
    }
  },
})
