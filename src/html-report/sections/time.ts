import { stackedBars } from '../charts.ts'
import { groupDigits, type Html, html } from '../html.ts'
import { KINDS, zeroCounts } from '../ledger-aggregates.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { countCell, MAX_TABLE_ROWS, tableDetails, tableHtml, textCell } from '../tables.ts'
import { KIND_NAMES, KINDS_WITH_NAMES, listBuckets } from '../view.ts'

/** Movements by kind over time. */
export function timeSection(stats: LedgerStats): Html {
  const { aggregates } = stats
  const bars = listBuckets(stats).map(({ from, to, name }) => {
    const counts = aggregates.timeline.get(from) ?? zeroCounts()
    const counted = KINDS.filter((kind) => counts[kind] > 0)
    const texts = counted.map((kind) => `${KIND_NAMES[kind]} ${groupDigits(counts[kind])}`)
    return { from, to, counts, name, title: `${name} UTC: ${texts.join(', ')}` }
  })
  if (bars.length === 0) return html``
  const size = aggregates.buckets.sizeName
  const description = `Movements by ${size}, from ${aggregates.first.slice(0, 10)} to ${aggregates.last.slice(0, 10)}`
  const legend = KINDS_WITH_NAMES.map(
    ({ kind, name }) =>
      html`<li><svg width="10" height="10" aria-hidden="true"><rect class="k-${kind}" width="10" height="10"/></svg> ${name} ${groupDigits(aggregates.totals[kind])}</li>`,
  )
  const chart = stackedBars(bars, { kinds: KINDS, description, unit: `movements per ${size}` })
  const active = bars.filter(({ from }) => aggregates.timeline.has(from))
  const rows = active
    .slice(-MAX_TABLE_ROWS)
    .map(({ name, counts }) => [textCell(name), ...KINDS.map((kind) => countCell(counts[kind]))])
  const headers = ['from', ...KINDS_WITH_NAMES.map(({ name }) => name)]
  const totals = KINDS.map((kind) => countCell(aggregates.totals[kind]))
  return html`<section id="when"><h2>Activity over time</h2>
<ul class="legend">${legend}</ul>
<div class="picture" tabindex="0" role="group" aria-label="Chart">${chart}</div>
<p class="note">Each bar covers ${size === 'hour' ? 'an hour' : /^\d/.test(size) ? size : `a ${size}`}; times are UTC.</p>
${tableDetails(tableHtml(description, { headers, rows }, { noun: 'period', count: active.length, totals }))}
</section>`
}
