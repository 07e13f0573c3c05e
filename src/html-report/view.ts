import { DAY_MS } from '../core/model/utc.ts'
import { largest, smallest } from '../core/platform/extremes.ts'
import { addressHtml, type Html, html, nameHtml, shortAddress } from './html.ts'
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

/** All buckets from the first to the last, empty ones included, with the name and day of their start. */
export function listBuckets({ aggregates }: LedgerStats): { bucket: number; name: string; day: string }[] {
  const activeBuckets = [...aggregates.timeline.keys()]
  if (activeBuckets.length === 0) return []
  const [first, last] = [smallest(activeBuckets), largest(activeBuckets)]
  const { sizeMs } = aggregates.buckets
  return Array.from({ length: last - first + 1 }, (_, at) => {
    const ms = (first + at) * sizeMs
    return {
      bucket: first + at,
      day: new Date(ms).toISOString().slice(0, 10),
      name: formatBucketTime(ms, sizeMs),
    }
  })
}

/** Formats the start or end of a bucket (milliseconds since 1970); without the time if buckets are days or longer. */
export function formatBucketTime(ms: number, sizeMs: number): string {
  const iso = new Date(ms).toISOString()
  return sizeMs < DAY_MS ? `${iso.slice(5, 10)} ${iso.slice(11, 16)}` : iso.slice(0, 10)
}

/** Formats the size of a bucket: `day`, `3 hours`. */
export function formatBucketSize(sizeMs: number): string {
  const [minutes, hours, days] = [sizeMs / 60_000, sizeMs / 3_600_000, sizeMs / DAY_MS]
  if (days >= 1) return days === 1 ? 'day' : `${days} days`
  if (hours >= 1) return hours === 1 ? 'hour' : `${hours} hours`
  return minutes === 1 ? 'minute' : `${minutes} minutes`
}
