import { wrappedCoinOf } from '../../core/model/chains.ts'
import { type Html, html } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'

const TOKENS =
  'Token names and symbols are chosen by whoever created the token. Only its contract address identifies it.'
const PURPOSE =
  'The purpose of a payment is not recorded on the chain: income, gifts and loans look the same.'

const NO_WRAPS =
  'Wrapping a coin moves the coin without a transfer of the wrapped token, so more of that token can appear to be spent than was received.'
const SOME_WRAPS =
  'A token that changes balances without a transfer can appear to be spent more often than it was received. The wrapped coin of this chain is counted correctly, except for wallets on whose behalf a contract wrapped it.'

/** Whether the ledger contains the token side of wrapping. */
const hasWraps = (job: LedgerStats['manifest']['job']) =>
  job.wraps === 'ledger' && wrappedCoinOf(job) !== undefined

/** Limitations of the figures of an export with a ledger. */
export const ledgerLimits = ({ fiatValues, manifest }: LedgerStats): string[] => [
  'Assets that a wallet held before the first block of this export are not in its rows: a balance is the sum of these rows, plus opening balances if they were given.',
  'A transaction is counted if it moved an asset of a wallet or cost it a fee. All others are only in the transactions table.',
  hasWraps(manifest.job) ? SOME_WRAPS : NO_WRAPS,
  TOKENS,
  fiatValues === undefined
    ? 'There are no fiat values: amounts of different assets are never added.'
    : 'Fiat values use the prices of the price file at the last movement. Selling a whole balance may bring less.',
  PURPOSE,
]

/** Limitations of the figures of an export without a ledger. */
export const OVERVIEW_LIMITS = [
  'An export without a ledger has no balances, and does not show who sent which assets to whom.',
  'Missing blocks may contain transactions: all counts are of the blocks that were read.',
  TOKENS,
  PURPOSE,
]

/** The limitations of all exports of a page, each once. */
export function limitsSection(limits: readonly string[]): Html {
  return html`<section id="limits"><h2>Limitations</h2>
<ul>
${[...new Set(limits)].map((limit) => html`<li>${limit}</li>\n`)}</ul></section>`
}
