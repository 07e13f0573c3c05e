import { ExportError } from '../../core/model/errors.ts'
import type { TransactionQuery } from './operations/transactions.ts'
import type { ServiceClient } from './service-client.ts'
import { decimalAt } from './transfers.ts'

/** A price of one whole coin: plain digits, above zero. */
export type CoinPrice = {
  /** Such as USD. */
  currency: string
  price: string
}

/**
 * Requests the price of the native coin at the time of a transaction. Undefined if the details of the transaction state
 * none, or if the service does not have them (404).
 */
export async function readCoinPrice(
  client: ServiceClient,
  query: TransactionQuery,
  signal: AbortSignal,
): Promise<CoinPrice | undefined> {
  try {
    const { networkTokenDetails } = await client.getTransaction(query, { signal })
    const stated = networkTokenDetails?.historicalPrice ?? {}
    const [price, currency] = [decimalAt(stated, 'value'), String(stated.currencyCode ?? '').toUpperCase()]
    if (price === null || !PRICE.test(price) || !/^[A-Z]{2,10}$/.test(currency)) return undefined
    return { currency, price }
  } catch (error) {
    if (error instanceof ExportError && error.status === 404) return undefined
    throw error
  }
}

/** The digits that files of prices may have. Zero means that the service knows no price. */
const PRICE = /^(?=.*[1-9])\d{1,60}(\.\d{1,60})?$/
