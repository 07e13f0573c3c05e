import { groupDigits, type Html, html } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { ROW_COLUMNS } from '../recent-rows.ts'

/** The list of all rows, or of the newest ones. The page's script unpacks and searches them. */
export function rowsSection({ rows }: LedgerStats, at: number): Html {
  const { included, total } = rows
  const description =
    included < total
      ? `the newest ${groupDigits(included)} of ${groupDigits(total)}`
      : `all ${groupDigits(total)}`
  return html`<section class="rows" id="rows" data-rows="rows-${at}"><h2>Rows</h2>
<noscript><p>The rows are compressed: this list requires JavaScript.</p></noscript>
<p class="note">This list contains ${description} movements, with exact amounts. ${included < total ? 'The export contains all of them.' : ''}</p>
<div class="tools"><label>Search <input type="search" autocomplete="off" spellcheck="false"></label>
<button type="button" data-do="copy">Copy as CSV</button> <button type="button" data-do="save">Save as CSV</button>
<output></output></div>
<div class="list" role="grid" aria-readonly="true" aria-label="Rows" aria-colcount="${ROW_COLUMNS.length}" tabindex="0">
<div role="rowgroup"><div role="row" class="row heads" aria-rowindex="1">${ROW_COLUMNS.map((name) => html`<span role="columnheader">${name}</span>`)}</div></div>
<div role="rowgroup" class="space"></div></div>
</section>`
}
