import type { Movement } from '../accounting/movement.ts'
import { matchOwnTransfers } from '../accounting/paid-swaps.ts'
import type { ConversionPrices } from '../accounting/text-writer.ts'
import { isNft } from '../core/model/asset.ts'
import { entryRulesOf } from '../core/model/entry-types.ts'
import { exactFiatValue } from '../ledger/prices/prices.ts'
import { ActivityPacker } from './activity-data.ts'
import { type Amount, eventsOf } from './events.ts'
import { DailyBalances } from './worth.ts'
import { assetId } from './year-sums.ts'

/** Fees that were paid: their number, their sum in the coin's smallest unit, and their value when paid. */
export type FeeSum = {
  chain: string
  count: number
  paid: bigint
  /** Without those that had no price, in units of 10^-8 of the currency. */
  value: bigint
  unpriced: number
}

/** Movements of an NFT collection. */
export type CollectionSum = { chain: string; type: string; address: string; in: number; out: number }

type SumOptions = {
  prices: ConversionPrices | undefined
  isFailed: (transaction: string) => boolean
  maxRows: number
}

/** Sums the transactions of all exports, in chain order, into the figures of a report. */
export class TransactionSums {
  readonly daily = new DailyBalances()
  readonly packer: ActivityPacker
  /** Times of the first and the last movement, as written in the tables; empty if there are none. */
  first = ''
  last = ''
  /** By chain and month (`2023-11`), and by chain and method. */
  readonly feesByMonth = new Map<string, FeeSum>()
  readonly feesByMethod = new Map<string, FeeSum>()
  readonly collections = new Map<string, CollectionSum>()
  /** Movements by asset. */
  readonly movements = new Map<string, number>()
  /** Number of transfers from one own wallet to another, by `"<from> <to>"`. */
  readonly ownTransfers = new Map<string, number>()
  readonly #options: SumOptions

  constructor(options: SumOptions, rows: number) {
    this.#options = options
    this.packer = new ActivityPacker(rows, options.maxRows)
  }

  /** Adds the movements of a transaction, or the opening balances of an export. */
  add(movements: readonly Movement[]): void {
    const [first, ...others] = movements
    if (first === undefined) return
    if (first.source !== 'opening') {
      if (this.first === '') this.first = first.time
      this.last = first.time
    }
    for (const movement of movements) this.#addMovement(movement)
    const matched = matchOwnTransfers(movements)
    for (const movement of matched) this.#countOwn(movement)
    this.packer.add([first, ...others], () =>
      eventsOf(matched, this.#options.isFailed(first.transaction)).map((event) => ({
        event,
        value: this.#valueOf(event.in.length > 0 ? event.in : event.out, first),
      })),
    )
  }

  #addMovement(movement: Movement): void {
    const { chain, time, asset, value, isOut, type } = movement
    const { countsAs } = entryRulesOf(type)
    const id = assetId(chain, asset.type, asset.address)
    this.movements.set(id, (this.movements.get(id) ?? 0) + 1)
    if (isNft(asset)) this.#addNft(id, movement)
    else this.daily.add(id, time, { change: isOut ? -value : value, isOpening: countsAs === 'opening' })
    if (countsAs === 'fee') this.#addFee(movement)
  }

  #addNft(id: string, { chain, asset, isOut }: Movement): void {
    const { type, address } = asset
    const sum = this.collections.get(id) ?? { chain, type, address: address ?? '', in: 0, out: 0 }
    this.collections.set(id, sum)
    sum[isOut ? 'out' : 'in'] += 1
  }

  /** Each fee is rounded separately, as in the files of `convert`, so that the totals agree. */
  #addFee(movement: Movement): void {
    const { chain, time, method, value: paid } = movement
    const value = this.#valueOf([movement], movement)
    for (const [sums, name] of [
      [this.feesByMonth, time.slice(0, 7)],
      [this.feesByMethod, method ?? ''],
    ] as const) {
      const key = `${chain} ${name}`
      const sum = sums.get(key) ?? { chain, count: 0, paid: 0n, value: 0n, unpriced: 0 }
      sums.set(key, sum)
      sum.count += 1
      sum.paid += paid
      sum.value += value ?? 0n
      sum.unpriced += value === undefined ? 1 : 0
    }
  }

  #countOwn({ type, wallet, counterparty, isOut, isOwn }: Movement): void {
    if (!isOwn || !isOut || counterparty === wallet || entryRulesOf(type).countsAs !== 'transfer') return
    const pair = `${wallet} ${counterparty}`
    this.ownTransfers.set(pair, (this.ownTransfers.get(pair) ?? 0) + 1)
  }

  /** The value of amounts when they moved; undefined if one of them has no price. */
  #valueOf(amounts: readonly Amount[], { chain, time }: Movement): bigint | undefined {
    const prices = this.#options.prices?.ofChain(chain)
    if (prices === undefined || amounts.length === 0) return undefined
    let sum = 0n
    for (const { asset, value } of amounts) {
      const price = value === 0n ? '0' : prices.at(asset, time)
      const { decimals } = asset
      if (price === undefined || decimals === null || decimals < 0 || decimals > 255) return undefined
      sum += exactFiatValue(value, decimals, price)
    }
    return sum
  }
}
