import { groupDigits, type Html, html } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { ROW_COLUMNS } from '../recent-rows.ts'

/** All rows, or the newest: the page's script unpacks and searches them. */
export function rowsSection({ rows }: LedgerStats, at: number): Html {
  const { included, total } = rows
  const description =
    included < total
      ? `the newest ${groupDigits(included)} of ${groupDigits(total)}`
      : `all ${groupDigits(total)}`
  return html`<section class="rows" data-rows="rows-${at}"><h2>Rows</h2>
<noscript><p>The rows are packed: this list needs the page's own script.</p></noscript>
<p class="note">These are ${description} movements; amounts are exact. ${included < total ? 'The tables have all of them.' : ''}</p>
<div class="tools"><label>Search <input type="search" autocomplete="off" spellcheck="false"></label>
<button type="button" data-do="copy">Copy what is shown</button> <button type="button" data-do="save">Save it as CSV</button>
<output></output></div>
<div class="list" role="grid" aria-readonly="true" aria-label="Rows" aria-colcount="${ROW_COLUMNS.length}" tabindex="0">
<div role="rowgroup"><div role="row" class="row heads" aria-rowindex="1">${ROW_COLUMNS.map((name) => html`<span role="columnheader">${name}</span>`)}</div></div>
<div role="rowgroup" class="space"></div></div>
</section>`
}
