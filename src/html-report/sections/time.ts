import { DAY_MS } from '../../core/model/utc.ts'
import { stackedBars } from '../charts.ts'
import { countCell, groupDigits, type Html, html, tableDetails, tableHtml, textCell } from '../html.ts'
import { KINDS } from '../ledger-aggregates.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { formatBucketSize, KIND_NAMES, KINDS_WITH_NAMES, listBuckets } from '../view.ts'

/** Movements by kind over time. */
export function timeSection(stats: LedgerStats): Html {
  const { aggregates } = stats
  const buckets = listBuckets(stats)
  if (buckets.length === 0) return html``
  const bars = buckets.map(({ bucket, name, day }) => {
    const counts = aggregates.timeline.get(bucket)
    const parts = KINDS.map((kind) => ({ kind, count: counts?.[kind] ?? 0 }))
    const counted = parts
      .filter(({ count }) => count > 0)
      .map(({ kind, count }) => `${KIND_NAMES[kind]} ${groupDigits(count)}`)
    return {
      name: aggregates.buckets.sizeMs < DAY_MS ? name : day,
      parts,
      title: `${name} UTC: ${counted.join(', ') || 'no movements'}`,
    }
  })
  const size = formatBucketSize(aggregates.buckets.sizeMs)
  const description = `Movements by ${size}, from ${aggregates.first.slice(0, 10)} to ${aggregates.last.slice(0, 10)}`
  const legend = KINDS_WITH_NAMES.map(
    ({ kind, name }) =>
      html`<li><svg width="10" height="10" aria-hidden="true"><rect class="k-${kind}" width="10" height="10"/></svg> ${name} ${groupDigits(aggregates.totals[kind])}</li>`,
  )
  const rows = bars
    .filter(({ parts }) => parts.some(({ count }) => count > 0))
    .map(({ name, parts }) => [textCell(name), ...parts.map(({ count }) => countCell(count))])
  return html`<section id="when"><h2>Activity over time</h2>
<ul class="legend">${legend}</ul>
<div class="picture" tabindex="0" role="group" aria-label="Chart">${stackedBars(bars, description)}</div>
<p class="note">Each bar covers ${/^\d/.test(size) ? size : `a ${size}`.replace('a hour', 'an hour')}; times are UTC.</p>
${tableDetails(tableHtml(description, ['from', ...KINDS_WITH_NAMES.map(({ name }) => name)], rows))}
</section>`
}
