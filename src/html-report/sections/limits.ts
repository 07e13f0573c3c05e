import { type Html, html } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'

const TOKENS = "A token's name and symbol are what its maker wrote. Only its contract tells it from others."
const PURPOSE = 'What a payment was for, nobody can read from a chain: income, gifts and loans look alike.'

/** What the figures of a ledger do not say. */
export const ledgerLimits = ({ fiatValues }: LedgerStats): string[] => [
  'Coins and tokens that a wallet had before the first block of this export are in no row: a balance is what these rows add up to.',
  'A transaction counts where it moved something of a wallet or cost it a fee; one that did neither is in the table of transactions alone.',
  'A coin that is wrapped moves without a transfer of the token that it becomes: such a token can look as if more of it was spent than came.',
  TOKENS,
  fiatValues === undefined
    ? 'Nothing here has a price: amounts of different assets are never added.'
    : 'What anything is worth is what the file of prices says, as of the last movement; a price is not what somebody would pay for all of it.',
  PURPOSE,
]

/** What the figures of an export without a ledger do not say. */
export const FACTS_LIMITS = [
  'An export without a ledger does not say what anybody had or has: there are no balances, and nobody is told from anybody else by what moved.',
  'A block that is missing may have had transactions: every count is of the blocks that were read.',
  TOKENS,
  PURPOSE,
]

/** What a reader must not take the figures of a page for. */
export function limitsSection(limits: readonly string[]): Html {
  return html`<section id="limits"><h2>What these figures do not say</h2>
<ul>
${[...new Set(limits)].map((limit) => html`<li>${limit}</li>\n`)}</ul></section>`
}
