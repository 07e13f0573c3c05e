import { FIAT_DECIMALS } from '../../ledger/prices/fiat-value.ts'
import type { FiatValues } from '../fiat-values.ts'
import {
  amountHtml,
  type Cell,
  fiatValueCell,
  formatCount,
  formatUtcMinute,
  groupDigits,
  type Html,
  html,
} from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { assetHtml } from '../view.ts'

/** Assets without a price that a sentence names. */
const MAX_NAMED = 5

/** Columns that a table has more where the user gave prices: none without. */
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

/** What all is worth in the end, and what was paid in fees, in words. */
export function fiatValueText({ fiatValues }: LedgerStats): Html {
  if (fiatValues === undefined) return html``
  const { currency, total, fees, heldAssets, unpricedAssets } = fiatValues
  const priced = heldAssets.size - unpricedAssets.size
  return html`By your prices they had ${amountHtml(total, FIAT_DECIMALS)} ${currency} in the end (${groupDigits(priced)} of ${formatCount(heldAssets.size, 'asset')} had a price),
and those fees cost ${amountHtml(fees.total, FIAT_DECIMALS)} ${currency} when they were paid.`
}

/** Whose prices these are, of when, and what has none. */
export function fiatValueNote(stats: LedgerStats): Html {
  const { fiatValues } = stats
  if (fiatValues === undefined || fiatValues.pricedAt === '') return html``
  const { currency, pricedAt, heldAssets, unpricedAssets, fees } = fiatValues
  return html`<p class="note">Worth is what the file of prices says in ${currency}, never the service: the newest price at or before ${formatUtcMinute(pricedAt)}, when the last movement was, at most 36 hours old.
${unpricedAssets.size === 0 ? 'Every coin and token that is held has one.' : html`${formatCount(unpricedAssets.size, 'asset')} of ${groupDigits(heldAssets.size)} that are held ${unpricedAssets.size === 1 ? 'has' : 'have'} none and ${unpricedAssets.size === 1 ? 'counts' : 'count'} for nothing:${namesOf(stats, unpricedAssets)}.`}
NFTs have no price.${fees.unpriced === 0 ? '' : html` ${groupDigits(fees.unpriced)} of ${formatCount(fees.count, 'fee')} had no price when they were paid.`}</p>`
}

function namesOf(stats: LedgerStats, keys: ReadonlySet<string>): Html {
  const names = [...keys].slice(0, MAX_NAMED).map((key, at) => {
    const asset = stats.aggregates.assets.get(key)
    const address = key === 'native' ? null : key
    return html`${at === 0 ? '' : ','} ${assetHtml(stats, { address, symbol: asset?.symbol ?? null })}`
  })
  return html`${names}${keys.size > MAX_NAMED ? ' …' : ''}`
}
