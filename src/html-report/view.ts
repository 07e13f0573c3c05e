import { largest, smallest } from '../core/platform/extremes.ts'
import { addressHtml, formatCount, type Html, html, nameHtml, shortAddress } from './html.ts'
import { KINDS, type Kind, type LedgerAggregates } from './ledger-aggregates.ts'
import type { LedgerStats } from './ledger-stats.ts'

/** Display names of the kinds of movement. */
export const KIND_NAMES: Readonly<Record<Kind, string>> = {
  received: 'received',
  sent: 'sent',
  own: 'between own wallets',
  minted: 'minted',
  burned: 'burned',
  fee: 'fees',
}
export const KINDS_WITH_NAMES = KINDS.map((kind) => ({ kind, name: KIND_NAMES[kind] }))

/** Symbol of the native coin. Older manifests have none; the rows of a ledger do. */
export const coinOf = ({
  manifest,
  aggregates,
}: Pick<LedgerStats, 'manifest'> & { aggregates?: LedgerAggregates }): string =>
  manifest.job.nativeSymbol ?? aggregates?.assets.get('native')?.symbol ?? 'coin'

/** A wallet's label, or its shortened address if it has none. */
export const walletHtml = ({ labels }: LedgerStats, address: string): Html => labelHtml(labels, address)

/** The label of an address, or the shortened address if it has none. */
export function labelHtml(labels: ReadonlyMap<string, string>, address: string): Html {
  const label = labels.get(address)
  return label === undefined ? addressHtml(address) : html`<span title="${address}">${nameHtml(label)}</span>`
}

/** A wallet's label or shortened address as plain text, truncated for charts and narrow columns. */
export function walletText({ labels }: LedgerStats, address: string): string {
  const label = labels.get(address)
  return label === undefined ? shortAddress(address) : shortName(label)
}

/** A name truncated to fit into a chart. */
export function shortName(name: string): string {
  const characters = [...name]
  return characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS - 1).join('')}…` : name
}

const MAX_CHARACTERS = 22

/** An asset's symbol with its contract address, because symbols are untrusted and not unique. */
export function assetHtml(
  stats: LedgerStats,
  asset: { address: string | null; symbol: string | null },
): Html {
  if (asset.address === null) return html`<strong>${coinOf(stats)}</strong>`
  const symbol =
    asset.symbol === null || asset.symbol === '' ? html`<em>no symbol</em>` : nameHtml(asset.symbol)
  return html`${symbol} ${addressHtml(asset.address)}`
}

/** What totals of values leave out, to follow them in a sentence, with a link to the table; empty if nothing. */
export const withoutSuspicious = ({ suspicious }: LedgerStats): Html =>
  suspicious.size === 0
    ? html``
    : html`, without <a href="#suspicious">${formatCount(suspicious.size, 'suspicious token')}</a>`

/** A bucket of the time line: its start and end in milliseconds since 1970, and the name of its start. */
export type NamedBucket = { from: number; to: number; name: string }

/** All buckets from the first to the last, empty ones included. */
export function listBuckets({ aggregates: { buckets, timeline } }: LedgerStats): NamedBucket[] {
  const active = [...timeline.keys()]
  const listed: NamedBucket[] = []
  if (active.length === 0) return listed
  const last = largest(active)
  for (let from = smallest(active); from <= last; from = buckets.endOf(from))
    listed.push({ from, to: buckets.endOf(from), name: buckets.nameOf(from) })
  return listed
}
