import { impliedPrice, NATIVE } from '../../ledger/prices/prices.ts'
import { acceptsSwapIn, importRowsOf, type Leg } from '../import-rows.ts'
import { groupByWallet } from '../movement.ts'
import { transactionsOf } from '../transactions.ts'
import type { PricePoint, PriceSource } from './price-source.ts'

/**
 * The swaps of the wallets themselves: if one of two assets has a price on the day, the amounts imply that of the other. Of
 * several swaps of a day, the first one counts.
 */
export const SWAPS: PriceSource = {
  name: 'swaps',
  find: async ({ exported, points, currency, priceOf, add }) => {
    const missing = new Map(points.map((point) => [`${point.date} ${point.asset}`, point]))
    const imply = (known: Leg, other: Leg, { time, transaction }: { time: string; transaction: string }) => {
      const date = time.slice(0, 10)
      const point = missing.get(`${date} ${nameOf(other)}`)
      const price = point && impliedBy(known, other, priceOf(nameOf(known), date))
      if (point !== undefined && price !== undefined) {
        missing.delete(`${date} ${nameOf(other)}`)
        add(point, { price, currency, source: 'own swap', transaction, time })
      }
    }
    for await (const movements of transactionsOf(exported, periodOf(points)))
      for (const group of groupByWallet(movements))
        for (const { kind, in: received, out: sent } of importRowsOf(group, ACCEPTS_SWAP))
          if (kind === 'swap' && received !== undefined && sent !== undefined) {
            imply(sent, received, group[0])
            imply(received, sent, group[0])
          }
  },
}

const ACCEPTS_SWAP = acceptsSwapIn('pair', () => true)

const nameOf = ({ asset }: Leg): string => asset.address ?? NATIVE

/** The price of a unit of `other` that was exchanged for `known`, of which a unit has this price. */
function impliedBy(known: Leg, other: Leg, price: string | undefined): string | undefined {
  const [knownDecimals, otherDecimals] = [known.asset.decimals, other.asset.decimals]
  if (price === undefined || knownDecimals === null || otherDecimals === null) return undefined
  const implied = impliedPrice(
    { value: other.value, decimals: otherDecimals },
    { value: known.value, decimals: knownDecimals },
    price,
  )
  return implied === '0' ? undefined : implied
}

/** The days of the points. */
function periodOf(points: readonly PricePoint[]): { from: string; to: string } {
  const days = points.map(({ date }) => date).sort()
  return { from: days[0] ?? '9999', to: `${days.at(-1) ?? ''}T~` }
}
