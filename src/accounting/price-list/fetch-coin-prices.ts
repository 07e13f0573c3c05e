import { ExportError, toExportError } from '../../core/model/errors.ts'
import { limitConcurrency } from '../../core/platform/limit-concurrency.ts'
import type { OpenedService } from '../../sources/data-api/open-service.ts'
import { readCoinPrice } from '../../sources/data-api/read-coin-price.ts'

/** A transaction of a day, whose details state the price of the coin. */
export type DayTransaction = {
  /** UTC day. */
  date: string
  hash: string
  /** Time of the block, in the format of the tables. */
  time: string
}

/** The price of one coin, and the transaction whose details state it. */
type StatedPrice = { price: string; source: 'transaction details'; transaction: string; time: string }

/** The prices by day, and the error that ended the requests early. */
export type CoinPrices = { byDay: Map<string, StatedPrice>; error: ExportError | undefined }

type FetchOptions = {
  chainId: string
  /** Upper case. */
  currency: string
  concurrency: number
  onProgress: (done: number) => void
}

/**
 * Requests the price of the coin for each day, with one request. Days without a price in the response are absent from
 * the result. After an error, no further request is sent, and the prices received so far are returned with it.
 */
export async function fetchCoinPrices(
  days: readonly DayTransaction[],
  { client, signal }: OpenedService,
  { chainId, currency, concurrency, onProgress }: FetchOptions,
): Promise<CoinPrices> {
  const result: CoinPrices = { byDay: new Map(), error: undefined }
  const limit = limitConcurrency(concurrency)
  let done = 0
  const fetchDay = async (day: DayTransaction) => {
    if (result.error !== undefined) return
    const stated = await readCoinPrice(client, { chainId, txHash: day.hash }, signal)
    if (stated !== undefined && stated.currency !== currency)
      throw otherCurrencyError(stated.currency, currency)
    if (stated !== undefined) result.byDay.set(day.date, toStatedPrice(day, stated.price))
    done += 1
    onProgress(done)
  }
  const fail = (thrown: unknown) => {
    result.error ??= toExportError(thrown)
  }
  await Promise.all(days.map((day) => limit(() => fetchDay(day).catch(fail))))
  return result
}

function toStatedPrice({ hash, time }: DayTransaction, price: string): StatedPrice {
  return { price, source: 'transaction details', transaction: hash, time }
}

function otherCurrencyError(stated: string, wanted: string): ExportError {
  return new ExportError('USAGE', `the service states prices in ${stated}, not in ${wanted}`, {
    fix: `Use --currency ${stated.toLowerCase()}, or fill in prices in ${wanted} from another source.`,
  })
}
