import { DAY_MS } from '../../core/model/utc.ts'
import { stackedBars } from '../charts.ts'
import { asTable, countCell, grouped, type Html, html, tableHtml, textCell } from '../html.ts'
import { KINDS } from '../ledger-aggregates.ts'
import type { Figures } from '../ledger-stats.ts'
import { bucketsOf, bucketWords, KIND_NAMES, KINDS_SHOWN } from '../view.ts'

/** What happened when. */
export function timeSection(figures: Figures): Html {
  const { tally } = figures
  const buckets = bucketsOf(figures)
  if (buckets.length === 0) return html``
  const bars = buckets.map(({ bucket, name, day }) => {
    const counts = tally.timeline.get(bucket)
    const parts = KINDS.map((kind) => ({ kind, count: counts?.[kind] ?? 0 }))
    const told = parts
      .filter(({ count }) => count > 0)
      .map(({ kind, count }) => `${KIND_NAMES[kind]} ${grouped(count)}`)
    return {
      name: tally.buckets.sizeMs < DAY_MS ? name : day,
      parts,
      title: `${name} UTC: ${told.join(', ') || 'nothing'}`,
    }
  })
  const size = bucketWords(tally.buckets.sizeMs)
  const sentence = `Movements by ${size}, from ${tally.first.slice(0, 10)} to ${tally.last.slice(0, 10)}`
  const legend = KINDS_SHOWN.map(
    ({ kind, name }) =>
      html`<li><svg width="10" height="10" aria-hidden="true"><rect class="k-${kind}" width="10" height="10"/></svg> ${name} ${grouped(tally.totals[kind])}</li>`,
  )
  const rows = bars
    .filter(({ parts }) => parts.some(({ count }) => count > 0))
    .map(({ name, parts }) => [textCell(name), ...parts.map(({ count }) => countCell(count))])
  return html`<section id="when"><h2>What happened when</h2>
<ul class="legend">${legend}</ul>
<div class="picture" tabindex="0" role="group" aria-label="Picture">${stackedBars(bars, sentence)}</div>
<p class="note">A bar is ${/^\d/.test(size) ? size : `a ${size}`.replace('a hour', 'an hour')}; times are UTC.</p>
${asTable(tableHtml(sentence, ['from', ...KINDS_SHOWN.map(({ name }) => name)], rows))}
</section>`
}
