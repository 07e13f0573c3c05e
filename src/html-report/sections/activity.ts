import { type Html, html } from '../html.ts'
import type { PortfolioView } from '../view.ts'

/** The list of transactions as sentences. The page's script fills it, and searches and filters it. */
export function activitySection({ text, portfolio }: PortfolioView): Html {
  const m = text.messages.activity
  const { included, total } = portfolio.activity
  const filter = (name: 'wallet' | 'asset' | 'kind' | 'year') =>
    html`<label>${m[name]} <select data-filter="${name}"><option value="">${m.all}</option></select></label>`
  const note = text.plain(m.newest, { n: text.number(included), all: text.number(total) })
  return html`<section id="activity" data-activity="activity-data"><h2>${m.title}</h2>
<noscript><p>${m.noScript}</p></noscript>
${included < total ? html`<p class="note">${note}</p>` : ''}
<div class="tools"><label>${m.search} <input type="search" autocomplete="off" spellcheck="false"></label>
${(['wallet', 'asset', 'kind', 'year'] as const).map(filter)}
<button type="button" data-do="save">${m.csv}</button></div>
<div class="days"></div>
<p class="pages"><button type="button" data-do="newer">${m.newer}</button> <output></output> <button type="button" data-do="older">${m.older}</button></p>
</section>`
}
