import { COIN_DECIMALS } from '../../core/model/asset.ts'
import {
  NOT_RECONCILED,
  reconciliationHeadline,
  reconciliationRemarks,
} from '../../terminal/reconciliation-lines.ts'
import { formatCount, formatUtcMinute, groupDigits, type Html, html } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import {
  amountCell,
  countCell,
  fiatValueCell,
  longTextCell,
  MAX_TABLE_ROWS,
  tableHtml,
  textCell,
} from '../tables.ts'
import { coinOf, walletHtml, walletText } from '../view.ts'
import { fiatValueColumns } from './fiat-value.ts'

/** Fees per wallet, and the number of failed transactions. */
export function feesSection(stats: LedgerStats): Html {
  const { aggregates, fees } = stats
  const paid = [...aggregates.wallets.values()]
    .filter((one) => one.fees > 0n)
    .sort((a, b) => (b.fees > a.fees ? 1 : -1))
  if (paid.length === 0) return html``
  const fiatValues = fiatValueColumns(stats, { 'value when paid': ({ fees: { wallets } }) => wallets })
  const rows = paid
    .slice(0, MAX_TABLE_ROWS)
    .map((one) => [
      { html: walletHtml(stats, one.address), sort: walletText(stats, one.address) },
      amountCell(one.fees, COIN_DECIMALS),
      ...fiatValues.cellsOf(one.address),
    ])
  const headers = ['wallet', 'fees', ...fiatValues.headers]
  const totals = [
    amountCell(aggregates.coins.fees, COIN_DECIMALS),
    ...(stats.fiatValues === undefined ? [] : [fiatValueCell(stats.fiatValues.fees.total)]),
  ]
  return html`<section id="fees"><h2>Fees</h2>
${fees === undefined ? '' : html`<p>These wallets sent ${formatCount(fees.sent, 'transaction')}, of which ${groupDigits(fees.failed)} failed. Failed transactions cost fees too.</p>`}
${tableHtml(`Fees in ${coinOf(stats)}`, { headers, rows }, { noun: 'wallet', count: paid.length, totals })}
</section>`
}

/** The runs that collected the export, the rejected records and the missing blocks. */
export function dataCollectionSection({ data, manifest }: Pick<LedgerStats, 'data' | 'manifest'>): Html {
  const headers = [
    'run',
    'ended',
    'seconds',
    'requests',
    '429s',
    'retries',
    'MB',
    'rejects',
    'missing blocks',
  ]
  const rows = data.runs.map((run) => [
    textCell(`${run.startedAt.slice(0, 19).replace('T', ' ')} UTC`),
    textCell(run.state),
    ...[run.seconds, run.requests, run.rateLimited, run.retries].map(countCell),
    ...[Math.round(run.bytes / 100_000) / 10, run.rejects, run.missingBlocks].map(countCell),
  ])
  const missing = manifest.blocks?.missing ?? []
  return html`<section id="reading"><h2>Data collection</h2>
${manifest.tables.ledger === undefined ? '' : html`<p>${reconciliationText(data)}</p>`}
${rows.length === 0 ? html`<p>No run reports were found.</p>` : tableHtml('Runs, newest first', { headers, rows })}
${data.olderRuns === 0 ? '' : html`<p class="note">And ${formatCount(data.olderRuns, 'older run')}.</p>`}
${
  data.rejects.length === 0
    ? ''
    : tableHtml('Rejected records', {
        headers: ['reason', 'records'],
        rows: data.rejects.map(([reason, count]) => [longTextCell(reason), countCell(count)]),
      })
}
${
  missing.length === 0
    ? ''
    : html`<p>Blocks that the service did not have: ${missing
        .slice(0, 20)
        .map(({ fromBlock, toBlock }) =>
          toBlock - fromBlock === 1
            ? groupDigits(fromBlock)
            : `${groupDigits(fromBlock)} to ${groupDigits(toBlock - 1)}`,
        )
        .join(', ')}${missing.length > 20 ? ' …' : ''}.</p>`
}
</section>`
}

function reconciliationText({ reconciliation }: LedgerStats['data']): string {
  if (reconciliation == null) return `Reconciliation: ${NOT_RECONCILED.replaceAll('`', '')}.`
  const remarks = [reconciliationHeadline(reconciliation), ...reconciliationRemarks(reconciliation)]
  return `Reconciliation of ${formatUtcMinute(reconciliation.time)}: ${remarks.join('; ')}.`
}
