import { COIN_DECIMALS } from '../../core/model/asset.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import { missingBlocks } from '../data-collection.ts'
import { amountHtml, formatCount, formatUtcMinute, groupDigits, type Html, html, percent } from '../html.ts'
import type { Overview, TransactionTotals } from '../overview.ts'
import { coinOf, labelHtml } from '../view.ts'
import { headerHtml } from './header.ts'
import { type Tile, tilesHtml } from './tiles.ts'

/** The summary of an export without a ledger, for readers who know nothing about it yet. */
export function overviewSummarySection(overview: Overview, title: string): Html {
  return html`${headerHtml(overview, { title, timeRange: timeRangeText(overview) })}
<p class="words">${summaryHtml(overview)}</p>
${tilesHtml([...blocksTile(overview.manifest), ...transactionTiles(overview), tablesTile(overview.manifest)])}`
}

function timeRangeText({ transactions }: Overview): string {
  if (transactions === undefined) return 'no transactions table'
  const { timeRange } = transactions
  const formatTime = (ms: number) => formatUtcMinute(new Date(ms).toISOString())
  return timeRange === undefined
    ? 'no transactions'
    : `${formatTime(timeRange.first)} to ${formatTime(timeRange.last)}`
}

function summaryHtml({ manifest, labels, transactions }: Overview): Html {
  const noLedgerNote = 'This export has no ledger, so this page shows no balances, assets or counterparties.'
  if (transactions === undefined) return html`${noLedgerNote}`
  if (transactions.count === 0) return html`These blocks contain no transactions. ${noLedgerNote}`
  const { count, failed, fees, failedFees } = transactions
  return html`${formatCount(count, 'transaction')}, of which ${groupDigits(failed)} failed, cost their senders ${amountHtml(fees, COIN_DECIMALS)} ${coinOf({ manifest })} in fees, ${amountHtml(failedFees, COIN_DECIMALS)} of it for failed transactions.
${busiestText(transactions, labels)} ${noLedgerNote}`
}

function busiestText({ busiest, count }: TransactionTotals, labels: Overview['labels']): Html {
  const [first] = busiest
  if (first === undefined) return html``
  return html`${labelHtml(labels, first.address)} sent the most: ${groupDigits(first.count)}, or ${percent(first.count, count)}.`
}

function blocksTile(manifest: Manifest): Tile[] {
  const { blocks, coverage } = manifest
  if (blocks === undefined) {
    const seen = coverage.filter(({ transactions }) => transactions > 0).length
    return [
      [
        html`${groupDigits(seen)} of ${groupDigits(coverage.length)}`,
        'wallets active',
        html`according to their listings`,
      ],
    ]
  }
  const [all, missing] = [blocks.toBlock - blocks.fromBlock, missingBlocks(manifest)]
  return [
    [
      html`${groupDigits(all - missing)} of ${groupDigits(all)}`,
      'blocks read',
      html`${groupDigits(missing)} missing`,
    ],
  ]
}

function transactionTiles({ manifest, transactions }: Overview): Tile[] {
  if (transactions === undefined) return []
  const { count, failed, fees, failedFees, senders } = transactions
  return [
    [
      html`${groupDigits(count)}`,
      'transactions',
      html`${groupDigits(failed)} failed, ${percent(failed, count)}`,
    ],
    [
      html`${amountHtml(fees, COIN_DECIMALS)}`,
      `${coinOf({ manifest })} in fees`,
      html`${amountHtml(failedFees, COIN_DECIMALS)} of it for failed transactions`,
    ],
    [html`${groupDigits(senders)}`, 'senders', html`distinct addresses`],
  ]
}

function tablesTile({ tables }: Manifest): Tile {
  const all = Object.values(tables)
  const rows = all.reduce((sum, { rows: one }) => sum + one, 0)
  return [html`${groupDigits(rows)}`, 'rows', html`in ${formatCount(all.length, 'table')}`]
}
