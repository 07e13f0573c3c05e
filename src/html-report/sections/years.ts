import { AMOUNTS } from '../../accounting/statement/flows.ts'
import { sumKnownValues } from '../fiat-values.ts'
import { formatCount, type Html, html } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import {
  amountCell,
  type Cell,
  fiatValueCell,
  MAX_TABLE_ROWS,
  TOTAL_WITHOUT_SUSPICIOUS,
  tableHtml,
} from '../tables.ts'
import { assetHtml } from '../view.ts'
import type { AssetYear, YearSums } from '../year-sums.ts'

/** Statements by year: balances at both ends and what moved in between, newest year first. */
export function yearsSection(stats: LedgerStats): Html {
  const { years } = stats
  if (years.length === 0) return html``
  return html`<section id="years"><h2>Years</h2>
<p class="note">The sums over all wallets of what <code>walletlake statement --year</code> states by wallet, asset and token id. Years are UTC; years without movements are left out. Transfers between own wallets count as received and as sent.</p>
${years.toReversed().map((year, at) => yearHtml(stats, year, at === 0))}
</section>`
}

const HEADERS = ['asset', ...AMOUNTS.map((name) => name.replace('_', ' '))]

function yearHtml(stats: LedgerStats, { year, assets, unpriced }: YearSums, isOpen: boolean): Html {
  const all = [...assets.values()].sort((a, b) => rank(a) - rank(b))
  const plain = all.filter(({ address }) => !stats.suspicious.has(address ?? ''))
  const suspicious = all.filter((asset) => !plain.includes(asset))
  const table = (caption: string, some: readonly AssetYear[]) =>
    tableHtml(
      caption,
      { headers: HEADERS, rows: rowsOf(stats, some, amountCells) },
      { noun: 'asset', count: some.length },
    )
  const name = suspicious.length === 0 ? undefined : TOTAL_WITHOUT_SUSPICIOUS
  return html`<details${isOpen ? html` open` : ''}><summary><h3>${year}</h3></summary>
${table(`Amounts of ${year}`, plain)}${valuesTable(stats, { year, assets: plain, totalName: name })}${stats.fiatValues === undefined ? '' : unpricedNote(unpriced)}
${suspicious.length === 0 ? '' : html`<details><summary>${formatCount(suspicious.length, 'suspicious token')}</summary>${table(`Amounts of suspicious tokens in ${year}`, suspicious)}${valuesTable(stats, { year: `suspicious tokens in ${year}`, assets: suspicious })}</details>`}</details>`
}

/** The values of the assets that have any; nothing if there are none, or no prices. */
function valuesTable(
  stats: LedgerStats,
  { year, assets, totalName }: { year: string; assets: readonly AssetYear[]; totalName?: string | undefined },
): Html {
  const priced = assets.filter((asset) => AMOUNTS.some((name) => asset.values[name]))
  if (stats.fiatValues === undefined || priced.length === 0) return html``
  const totals = AMOUNTS.map((name) =>
    fiatValueCell(sumKnownValues(priced.map(({ values }) => values[name]))),
  )
  return tableHtml(
    `Values of ${year} in ${stats.fiatValues.currency}`,
    { headers: HEADERS, rows: rowsOf(stats, priced, valueCells) },
    { noun: 'asset', count: priced.length, totals, totalName },
  )
}

/** The native coin, then tokens, then NFTs. */
const rank = ({ type }: AssetYear) => (type === 'native' ? 0 : type === 'erc20' ? 1 : 2)

function rowsOf(
  stats: LedgerStats,
  assets: readonly AssetYear[],
  cellsOf: (asset: AssetYear) => Cell[],
): Cell[][] {
  return assets
    .slice(0, MAX_TABLE_ROWS)
    .map((asset) => [{ html: assetHtml(stats, asset), sort: asset.symbol ?? '' }, ...cellsOf(asset)])
}

const amountCells = ({ amounts, decimals }: AssetYear): Cell[] =>
  AMOUNTS.map((name) => amountCell(amounts[name], decimals))

const valueCells = ({ values }: AssetYear): Cell[] => AMOUNTS.map((name) => fiatValueCell(values[name]))

const unpricedNote = (count: number): Html =>
  count === 0
    ? html``
    : html`<p class="note">${formatCount(count, 'asset')} with amounts without a price: the totals do not include these amounts.</p>`
