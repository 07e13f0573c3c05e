import { COIN_DECIMALS } from '../../core/model/asset.ts'
import type { Coverage } from '../../core/model/manifest.ts'
import type { BlockRange } from '../../core/model/model.ts'
import { coverageBar, sparkline } from '../charts.ts'
import { rangeOfJob } from '../data-collection.ts'
import { addressHtml, formatUtcMinute, type Html, html } from '../html.ts'
import type { CoinSums } from '../ledger-aggregates.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import {
  amountCell,
  type Cell,
  countCell,
  EMPTY_CELL,
  fiatValueCell,
  MAX_TABLE_ROWS,
  tableHtml,
  textCell,
} from '../tables.ts'
import { coinOf, listBuckets, type NamedBucket, walletHtml, walletText } from '../view.ts'
import { fiatValueColumns, fiatValueNote } from './fiat-value.ts'
import { walletHeatMap } from './wallet-heat-map.ts'

/** The wallets: their activity, what they received and paid, and which part of the block range was read. */
export function walletsSection(stats: LedgerStats): Html {
  const { manifest, aggregates } = stats
  const movements = (address: string) => aggregates.wallets.get(address)?.movements ?? 0
  const sorted = [...manifest.coverage].sort(
    (a, b) => movements(b.address) - movements(a.address) || (a.address < b.address ? -1 : 1),
  )
  const active = sorted.flatMap(({ address }) => aggregates.wallets.get(address) ?? [])
  return html`<section id="wallets"><h2>Wallets</h2>
${activityTable(stats, sorted)}
${coinTable(stats, sorted)}
${fiatValueNote(stats)}
${walletHeatMap(stats, active)}
</section>`
}

/** What the rows of all wallets share. */
type SharedColumns = { buckets: readonly NamedBucket[]; range: BlockRange }

function activityTable(stats: LedgerStats, wallets: readonly Coverage[]): Html {
  const { aggregates, manifest } = stats
  const headers = [
    'wallet',
    'address',
    'activity',
    'transactions',
    'movements',
    'assets',
    'first seen, UTC',
    'last active, UTC',
    'first funded by',
    'blocks read',
  ]
  const shared = { buckets: listBuckets(stats), range: rangeOfJob(manifest) }
  const rows = wallets.slice(0, MAX_TABLE_ROWS).map((coverage) => activityRow(stats, coverage, shared))
  const totals = [
    EMPTY_CELL,
    EMPTY_CELL,
    EMPTY_CELL,
    countCell(aggregates.movements),
    countCell(aggregates.assets.size),
    EMPTY_CELL,
    EMPTY_CELL,
    EMPTY_CELL,
    EMPTY_CELL,
  ]
  return tableHtml('Activity by wallet', { headers, rows }, { noun: 'wallet', count: wallets.length, totals })
}

function activityRow(
  stats: LedgerStats,
  { address, fromBlock, toBlock }: Coverage,
  { buckets, range }: SharedColumns,
): Cell[] {
  const wallet = stats.aggregates.wallets.get(address)
  const read = { html: coverageBar(range, { from: fromBlock, to: toBlock }), sort: toBlock }
  const names = [nameCell(stats, address), { html: addressHtml(address), sort: address }]
  if (wallet === undefined)
    return [...names, textCell('no movements'), ...Array.from({ length: 6 }, () => textCell('–')), read]
  const counts = buckets.map(({ from }) => wallet.series.get(from) ?? 0)
  return [
    ...names,
    { html: sparkline(counts, `activity of ${walletText(stats, address)}`), sort: wallet.movements },
    countCell(wallet.transactions),
    countCell(wallet.movements),
    countCell(wallet.assets.size),
    textCell(minuteOf(wallet.first)),
    textCell(minuteOf(wallet.last)),
    wallet.funder === null
      ? textCell('–')
      : { html: walletHtml(stats, wallet.funder), sort: wallet.funder, isLong: true },
    read,
  ]
}

/** The minute of a time whose column states that it is UTC. */
const minuteOf = (time: string) => formatUtcMinute(time).replace(' UTC', '')

const nameCell = (stats: LedgerStats, address: string): Cell => ({
  html: walletHtml(stats, address),
  sort: walletText(stats, address),
})

/** What each wallet received, sent and paid in the native coin, and the values of what it holds. */
function coinTable(stats: LedgerStats, sorted: readonly Coverage[]): Html {
  const { aggregates, fiatValues } = stats
  const coin = coinOf(stats)
  const values = fiatValueColumns(stats, {
    'closing value of all priced assets': ({ wallets }) => wallets,
    'value of fees when paid': ({ fees }) => fees.wallets,
  })
  const closing = closingCoins(stats)
  const wallets = sorted.filter(
    ({ address }) =>
      aggregates.wallets.has(address) || closing.get(address) || fiatValues?.wallets.has(address),
  )
  const rows = wallets
    .slice(0, MAX_TABLE_ROWS)
    .map(({ address }) => [
      nameCell(stats, address),
      ...coinCells(aggregates.wallets.get(address)),
      amountCell(closing.get(address) ?? 0n, COIN_DECIMALS),
      ...values.cellsOf(address),
    ])
  if (rows.length === 0) return html``
  const totals = [
    ...coinCells(aggregates.coins),
    amountCell(
      [...closing.values()].reduce((sum, value) => sum + value, 0n),
      COIN_DECIMALS,
    ),
    ...(fiatValues === undefined ? [] : [fiatValues.total, fiatValues.fees.total].map(fiatValueCell)),
  ]
  const headers = [
    'wallet',
    `${coin} in`,
    `${coin} out`,
    `${coin} in fees`,
    `closing ${coin}`,
    ...values.headers,
  ]
  return tableHtml(`${coin} by wallet`, { headers, rows }, { noun: 'wallet', count: wallets.length, totals })
}

/** The closing balances of the native coin by wallet. */
const closingCoins = ({ balances: { balances } }: LedgerStats): ReadonlyMap<string, bigint> =>
  new Map(
    balances
      .filter(({ asset_type }) => asset_type === 'native')
      .map(({ wallet_address, value }) => [wallet_address, value]),
  )

const coinCells = (sums: CoinSums | undefined): Cell[] =>
  (['coinIn', 'coinOut', 'fees'] as const).map((name) => amountCell(sums?.[name] ?? 0n, COIN_DECIMALS))
