import type { FiatValues } from '../fiat-values.ts'
import { fiatHtml, formatCount, formatUtcMinute, groupDigits, type Html, html } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { type Cell, fiatValueCell } from '../tables.ts'
import { assetHtml, withoutSuspicious } from '../view.ts'

/** Assets without a price that a note names. */
const MAX_NAMED = 5

/** Additional table columns with fiat values; no columns without a price file. */
export function fiatValueColumns(
  { fiatValues }: LedgerStats,
  columns: Readonly<Record<string, (fiatValues: FiatValues) => ReadonlyMap<string, bigint>>>,
): { headers: string[]; cellsOf(key: string): Cell[] } {
  if (fiatValues === undefined) return { headers: [], cellsOf: () => [] }
  const maps = Object.values(columns).map((select) => select(fiatValues))
  return {
    headers: Object.keys(columns).map((name) => `${name}, ${fiatValues.currency}`),
    cellsOf: (key) => maps.map((map) => fiatValueCell(map.get(key))),
  }
}

/** A sentence with the total value of the closing balances and the fees at the prices when they were paid. */
export function fiatValueText(stats: LedgerStats): Html {
  const { fiatValues } = stats
  if (fiatValues === undefined) return html``
  const { currency, total, fees, heldAssets, unpricedAssets } = fiatValues
  const priced = heldAssets.size - unpricedAssets.size
  const worth =
    total === null
      ? html`None of the assets that are held has a price in the price file`
      : html`At your prices, the closing balances are worth ${fiatHtml(total)} ${currency} (${groupDigits(priced)} of ${formatCount(heldAssets.size, 'asset')} with a price${withoutSuspicious(stats)})`
  return fees.total === null
    ? html`${worth}.`
    : html`${worth},
and the fees cost ${fiatHtml(fees.total)} ${currency} when they were paid.`
}

/** A note on the source and date of the prices, and on the assets and fees that have none or do not count. */
export function fiatValueNote(stats: LedgerStats): Html {
  const { fiatValues } = stats
  if (fiatValues === undefined || fiatValues.pricedAt === '') return html``
  const { currency, pricedAt, heldAssets, unpricedAssets, fees } = fiatValues
  return html`<p class="note">Values are in ${currency} and come from the price file, not from the service: the newest price at or before the last movement (${formatUtcMinute(pricedAt)}), at most 36 hours old. The value of a wallet is that of its coins and tokens${withoutSuspicious(stats)}.
${unpricedAssets.size === 0 ? 'Every held coin and token has one.' : html`${formatCount(unpricedAssets.size, 'asset')} of ${groupDigits(heldAssets.size)} held ${unpricedAssets.size === 1 ? 'has' : 'have'} no price and ${unpricedAssets.size === 1 ? 'is' : 'are'} not part of the totals:${assetNames(stats, [...unpricedAssets])}.`}
NFTs have no price.${fees.unpriced === 0 ? '' : html` ${groupDigits(fees.unpriced)} of ${formatCount(fees.count, 'fee')} had no price when they were paid.`}</p>`
}

/** The names of the first assets, each after a space. */
export function assetNames(stats: LedgerStats, keys: readonly string[]): Html {
  const names = keys.slice(0, MAX_NAMED).map((key, at) => {
    const asset = stats.aggregates.assets.get(key)
    const address = key === 'native' ? null : key
    return html`${at === 0 ? '' : ','} ${assetHtml(stats, { address, symbol: asset?.symbol ?? null })}`
  })
  return html`${names}${keys.length > MAX_NAMED ? ' …' : ''}`
}
