/** Formats numbers and times for people. */

import { countBlocks } from '../core/model/block-ranges.ts'
import type { Manifest } from '../core/model/manifest.ts'
import type { BlockRange } from '../core/model/model.ts'
import { type IncompleteWallet, incompleteWallets } from '../core/model/run-stats.ts'
import type { Unknowns } from '../core/model/unknowns.ts'
import { formatMinute } from '../core/model/utc.ts'

export { formatMinute } from '../core/model/utc.ts'

/** 1234567 → `1,234,567`. */
export function formatInteger(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** `1 file`, `2 files`. */
export function formatCount(count: number, noun: string): string {
  return `${formatInteger(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** Milliseconds → `850 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatDuration(ms: number): string {
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`
  if (seconds < 60) return '1 min 0 s'
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}

/** Bytes → `0 B`, `1.5 KB`, `14.3 MB`, `2.1 GB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return step === 0 ? `${Math.round(bytes)} B` : `${(bytes / 1000 ** step).toFixed(1)} ${units[step]}`
}

/** Formats a half-open block range as `block 7` or `blocks 0 to 420`. */
export function formatBlockRange({ from, to }: BlockRange): string {
  return to - from === 1 ? `block ${from}` : `blocks ${from} to ${to - 1}`
}

/** Formats a time range as `2023-11-14 22:13 to 22:46 UTC`, with both dates if they differ. */
export function formatTimeRange(firstMs: number, lastMs: number): string {
  const [first, last] = [formatMinute(firstMs), formatMinute(lastMs)]
  if (first === last) return first
  const [date, minute] = last.split(' ')
  return first.startsWith(`${date} `)
    ? `${first.replace(' UTC', '')} to ${minute} UTC`
    : `${first.replace(' UTC', '')} to ${last}`
}

/** The lines that apply: leaves out the others, which are false or undefined. */
export function presentLines(...lines: (string | false | undefined | readonly string[])[]): string[] {
  return lines.flat().filter((line) => typeof line === 'string')
}

/** A line for each of the first `max` items, and a line about the number of the others, if there are any. */
export function limitLines<T>(
  items: readonly T[],
  max: number,
  toLine: (item: T) => string,
  toLastLine: (more: number) => string,
): string[] {
  const lines = items.slice(0, max).map(toLine)
  return items.length > max ? [...lines, toLastLine(items.length - max)] : lines
}

const MAX_SHOWN_RANGES = 12

/** Formats block ranges as `[0, 17) [20, 21)`; lists at most 12. */
export function formatRanges(ranges: readonly { from: number; to: number | undefined }[]): string {
  return limitLines(
    ranges,
    MAX_SHOWN_RANGES,
    ({ from, to }) => `[${from}, ${to ?? 'head'})`,
    (more) => `and ${formatInteger(more)} more ranges`,
  ).join(' ')
}

/** One line with the number of rejected records; empty if there are none. */
export function rejectLines({ rejects }: { rejects: number }): string[] {
  return rejects === 0
    ? []
    : [`${formatCount(rejects, 'record')} rejected, listed in rejects.ndjson with the reason`]
}

/**
 * Lines that name wallets whose rows are missing, because the service refused them or could not list everything;
 * empty if there are none.
 */
export function missingRowsWarning(manifest: Pick<Manifest, 'coverage'>): string[] {
  const incomplete = incompleteWallets(manifest)
  const gaps = incomplete.length === 0 ? [] : [`rows are missing: ${gapsMessage(incomplete)}`]
  return [...refusedWalletsWarning(manifest), ...gaps]
}

/** Message with the number of wallets whose listings have gaps. */
export function gapsMessage(incomplete: readonly IncompleteWallet[]): string {
  const listings = [...new Set(incomplete.flatMap(({ gaps }) => gaps.map(({ listing }) => listing)))].sort()
  return `the service could not list all of ${listings.join(', ')} for ${formatCount(incomplete.length, 'wallet')}`
}

function refusedWalletsWarning({ coverage }: Pick<Manifest, 'coverage'>): string[] {
  const refused = coverage.filter(({ error }) => error !== undefined)
  if (refused.length === 0) return []
  const list = limitLines(
    refused,
    MAX_NAMED_WALLETS,
    ({ address, fromBlock, toBlock }) =>
      toBlock > fromBlock ? `${address} from block ${toBlock} on` : address,
    (more) => `and ${formatInteger(more)} more`,
  ).join(', ')
  return [`rows of ${formatCount(refused.length, 'wallet')} are missing (refused by the service): ${list}`]
}

const MAX_NAMED_WALLETS = 3

/** One line for each kind of unknown data in the transactions of an export; empty if there is none. */
export function unknownLines({
  statusUnknown = 0,
  feeUnknown = 0,
  feesUpperBound = 0,
}: Partial<Unknowns>): string[] {
  return presentLines(
    statusUnknown > 0 &&
      `${formatCount(statusUnknown, 'transaction')} with unknown status, counted as successful`,
    feeUnknown > 0 &&
      `${formatCount(feeUnknown, 'own transaction')} with unknown fee: gas or price absent or 0, or a part for L1 or blobs not stated`,
    feesUpperBound > 0 && upperBoundLine(feesUpperBound),
  )
}

/** A line about contracts whose rows disagree on decimals; empty if there are none. */
export function decimalsLines({ decimalsConflict = 0 }: Pick<Manifest, 'decimalsConflict'>): string[] {
  return decimalsConflict === 0
    ? []
    : [
        `rows of ${formatCount(decimalsConflict, 'contract')} disagree on the decimals of a token: amounts add up by the decimals of each row, and may be wrong`,
      ]
}

function upperBoundLine(count: number): string {
  const fees =
    count === 1
      ? 'the fee of 1 own transaction is an upper bound'
      : `the fees of ${formatInteger(count)} own transactions are upper bounds`
  return `${fees}: the listed gas price may be the fee cap (--fees exact)`
}

/** Formats blocks that the service does not have as `79 blocks are missing: [421, 500)`. */
export function missingBlocksMessage(missing: readonly BlockRange[]): string {
  const count = countBlocks(missing)
  return `${formatCount(count, 'block')} ${count === 1 ? 'is' : 'are'} missing: ${formatRanges(missing)}`
}
