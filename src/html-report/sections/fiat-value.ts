import { WORTH_DECIMALS } from '../../ledger/prices/fiat-value.ts'
import type { Worths } from '../fiat-values.ts'
import { amountHtml, type Cell, counted, grouped, type Html, html, minuteOf, worthCell } from '../html.ts'
import type { Figures } from '../ledger-stats.ts'
import { assetHtml } from '../view.ts'

/** Assets without a price that a sentence names. */
const MOST_NAMED = 5

/** Columns that a table has more where the user gave prices: none without. */
export function worthColumns(
  { worths }: Figures,
  columns: Readonly<Record<string, (worths: Worths) => ReadonlyMap<string, bigint>>>,
): { heads: string[]; cellsOf(key: string): Cell[] } {
  if (worths === undefined) return { heads: [], cellsOf: () => [] }
  const maps = Object.values(columns).map((of) => of(worths))
  return {
    heads: Object.keys(columns).map((name) => `${name}, ${worths.currency}`),
    cellsOf: (key) => maps.map((map) => worthCell(map.get(key))),
  }
}

/** What all is worth in the end, and what was paid in fees, in words. */
export function worthWords({ worths }: Figures): Html {
  if (worths === undefined) return html``
  const { currency, total, fees, held, unpriced } = worths
  const priced = held.size - unpriced.size
  return html`By your prices they had ${amountHtml(total, WORTH_DECIMALS)} ${currency} in the end (${grouped(priced)} of ${counted(held.size, 'asset')} had a price),
and those fees cost ${amountHtml(fees.total, WORTH_DECIMALS)} ${currency} when they were paid.`
}

/** Whose prices these are, of when, and what has none. */
export function worthNote(figures: Figures): Html {
  const { worths } = figures
  if (worths === undefined || worths.at === '') return html``
  const { currency, at, held, unpriced, fees } = worths
  return html`<p class="note">Worth is what the file of prices says in ${currency}, never the service: the newest price at or before ${minuteOf(at)}, when the last movement was, at most 36 hours old.
${unpriced.size === 0 ? 'Every coin and token that is held has one.' : html`${counted(unpriced.size, 'asset')} of ${grouped(held.size)} that are held ${unpriced.size === 1 ? 'has' : 'have'} none and ${unpriced.size === 1 ? 'counts' : 'count'} for nothing:${namesOf(figures, unpriced)}.`}
NFTs have no price.${fees.unpriced === 0 ? '' : html` ${grouped(fees.unpriced)} of ${counted(fees.count, 'fee')} had no price when they were paid.`}</p>`
}

function namesOf(figures: Figures, keys: ReadonlySet<string>): Html {
  const names = [...keys].slice(0, MOST_NAMED).map((key, at) => {
    const asset = figures.tally.assets.get(key)
    const address = key === 'native' ? null : key
    return html`${at === 0 ? '' : ','} ${assetHtml(figures, { address, symbol: asset?.symbol ?? null })}`
  })
  return html`${names}${keys.size > MOST_NAMED ? ' …' : ''}`
}
