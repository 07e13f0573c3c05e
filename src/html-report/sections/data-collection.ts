import { COIN_DECIMALS } from '../../core/model/asset.ts'
import { amountCell, countCell, counted, grouped, type Html, html, tableHtml, textCell } from '../html.ts'
import type { Figures } from '../ledger-stats.ts'
import { coinOf, walletHtml, walletText } from '../view.ts'
import { worthColumns } from './fiat-value.ts'

/** What was paid, and what of it for nothing. */
export function feesSection(figures: Figures): Html {
  const { tally, fees } = figures
  const paid = [...tally.wallets.values()]
    .filter((one) => one.fees > 0n)
    .sort((a, b) => (b.fees > a.fees ? 1 : -1))
  if (paid.length === 0) return html``
  const worth = worthColumns(figures, { 'when paid': ({ fees: { wallets } }) => wallets })
  const rows = paid
    .slice(0, 200)
    .map((one) => [
      { html: walletHtml(figures, one.address), sort: walletText(figures, one.address) },
      amountCell(one.fees, COIN_DECIMALS),
      ...worth.cellsOf(one.address),
    ])
  return html`<section id="fees"><h2>Fees</h2>
${fees === undefined ? '' : html`<p>${counted(fees.sent, 'transaction')} were sent by these wallets; ${grouped(fees.failed)} of them failed, and their fees were paid for nothing.</p>`}
${tableHtml(`Fees in ${coinOf(figures)}`, ['wallet', 'fees', ...worth.heads], rows)}
</section>`
}

/** How the export was read, and what it could not read. */
export function readingSection({ reading, manifest }: Pick<Figures, 'reading' | 'manifest'>): Html {
  const heads = ['run', 'ended', 'seconds', 'requests', '429s', 'retries', 'MB', 'rejects', 'missing blocks']
  const rows = reading.runs.map((run) => [
    textCell(`${run.startedAt.slice(0, 19).replace('T', ' ')} UTC`),
    textCell(run.state),
    ...[run.seconds, run.requests, run.rateLimited, run.retries].map(countCell),
    ...[Math.round(run.bytes / 100_000) / 10, run.rejects, run.missingBlocks].map(countCell),
  ])
  const missing = manifest.blocks?.missing ?? []
  return html`<section id="reading"><h2>How it was read</h2>
${rows.length === 0 ? html`<p>No figures of runs were kept.</p>` : tableHtml('Runs, the newest first', heads, rows)}
${reading.olderRuns === 0 ? '' : html`<p class="note">And ${counted(reading.olderRuns, 'older run')}.</p>`}
${
  reading.rejects.length === 0
    ? ''
    : tableHtml(
        'Records that could not be read',
        ['reason', 'records'],
        reading.rejects.map(([reason, count]) => [textCell(reason), countCell(count)]),
      )
}
${
  missing.length === 0
    ? ''
    : html`<p>Blocks that the service did not have: ${missing
        .slice(0, 20)
        .map(({ fromBlock, toBlock }) =>
          toBlock - fromBlock === 1 ? grouped(fromBlock) : `${grouped(fromBlock)} to ${grouped(toBlock - 1)}`,
        )
        .join(', ')}${missing.length > 20 ? ' …' : ''}.</p>`
}
</section>`
}
