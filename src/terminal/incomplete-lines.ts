import type { Job } from '../core/model/model.ts'
import {
  clockLagOf,
  type IncompleteWallet,
  type RefusedWallet,
  type RunStats,
} from '../core/model/run-stats.ts'
import { DAY_MS } from '../core/model/utc.ts'
import type { WalletSample } from '../core/model/wallet-sample.ts'
import {
  formatCount,
  formatDuration,
  formatInteger,
  formatMinute,
  gapsMessage,
  limitLines,
  presentLines,
} from './format.ts'

/** Maximum number of refused wallets that are listed with their error. */
const MAX_NAMED_WALLETS = 5
/** Lines have at most 80 columns. */
const MAX_ERROR_LENGTH = 74

/** Lists wallets that the service refused; empty if there are none. */
export function refusedWalletLines(refused: readonly RefusedWallet[], labels: Labels): string[] {
  if (refused.length === 0) return []
  const remaining = refused.length - MAX_NAMED_WALLETS
  return presentLines(
    `  ${refusedWalletsMessage(refused)}`,
    refused
      .slice(0, MAX_NAMED_WALLETS)
      .flatMap(({ address, error }) => [
        walletLine(address, labels),
        `      ${error.slice(0, MAX_ERROR_LENGTH)}`,
      ]),
    remaining > 0 && `    and ${formatInteger(remaining)} more, in manifest.json with "error"`,
  )
}

/** One line with the addresses of refused wallets, for a run that prints no summary. */
export function namedRefusedWalletsMessage(refused: readonly RefusedWallet[]): string {
  const names = limitLines(
    refused,
    MAX_NAMED_WALLETS,
    ({ address }) => address,
    (more) => `${formatInteger(more)} more`,
  )
  return `${refusedWalletsMessage(refused)}: ${names.join(', ')}`
}

/** Message with the number of refused wallets. */
export function refusedWalletsMessage(refused: readonly RefusedWallet[]): string {
  const count = formatCount(refused.length, 'wallet')
  return `the service refused ${count} and answered the others`
}

/** Lists what the service could not list although it answered for the wallets; empty if there is nothing. */
export function gapLines(incomplete: readonly IncompleteWallet[]): string[] {
  if (incomplete.length === 0) return []
  const reasons = new Map(
    incomplete.flatMap(({ gaps }) => gaps.map(({ listing, reason }) => [`${listing}: ${reason}`, listing])),
  )
  return [
    `  ${gapsMessage(incomplete)}`,
    ...[...reasons.keys()]
      .slice(0, MAX_NAMED_REASONS)
      .map((reason) => `    ${reason.slice(0, MAX_ERROR_LENGTH)}`),
    '    blocks: manifest.json, coverage[].gaps; the next run asks again',
  ]
}

const MAX_NAMED_REASONS = 5

/** The number of transactions that were read but not exported, and why; empty if there are none. */
export function excludedLines(stats: RunStats, { finalityMs }: Pick<Job, 'finalityMs'>): string[] {
  const { leftOut } = stats
  if (leftOut === undefined) return []
  const { newerThanClock } = leftOut
  const tooRecent = leftOut.transactions - newerThanClock
  const reason =
    finalityMs === 0
      ? 'newer than the start of this run'
      : `younger than finality (${formatDuration(finalityMs)})`
  return presentLines(
    newerThanClock > 0 &&
      `  ${formatCount(newerThanClock, 'transaction')} newer than this machine's clock: left out`,
    tooRecent > 0 && `  ${formatCount(tooRecent, 'transaction')} ${reason}: left for a later run`,
    clockMessages(stats).map((line) => `  ${line}`),
  )
}

/** Message that this machine's clock appears to be behind, and by how much; empty if it does not. */
export function clockMessages(stats: Pick<RunStats, 'leftOut' | 'service'>): string[] {
  const { leftOut, service } = stats
  const lagMs = clockLagOf(stats)
  if (lagMs === undefined || leftOut === undefined) return []
  const times = `newest transaction: ${formatMinute(leftOut.newestMs)}; clock: ${formatMinute(leftOut.clockMs)}`
  const { aheadMs = 0 } = service
  const lagText = `the clock appears to be behind by at least ${formatLag(lagMs)}`
  const clocksAgree =
    service.aheadMs !== undefined && leftOut.newestMs - leftOut.clockMs > aheadMs + BLOCK_TIME_TOLERANCE_MS
  return presentLines(
    lagText,
    clocksAgree && "or the chain's time is ahead: the service's clock agrees with this one",
    times,
  )
}

/** Formats a duration of two days or more in whole days. */
const formatLag = (ms: number) =>
  ms < 2 * DAY_MS ? formatDuration(ms) : formatCount(Math.floor(ms / DAY_MS), 'day')

/** Milliseconds by which the service's clock may differ from the block times of its chain. */
const BLOCK_TIME_TOLERANCE_MS = 60_000

/**
 * States that wallets may lack blocks before the job's end block; empty if they do not, or if the job has no end block.
 */
export function notReachedLines(
  { kind, endBlock }: Job,
  { completeTo: end }: Pick<RunStats, 'completeTo'>,
): string[] {
  if (kind === 'blocks' || endBlock === undefined || end === undefined || end >= endBlock) return []
  return [`  not final: ${notReachedMessage(endBlock, end)}`, '  the next run continues from there']
}

/** States that answers of the service contradicted each other. */
export function answersDifferMessage({ answersDiffer }: Pick<RunStats, 'answersDiffer'>): string {
  return `${formatCount(answersDiffer, 'exported transaction')} missing in one answer of the service and present in the next: kept`
}

/** @param end One past the last block that the service had indexed when it answered for every wallet. */
export function notReachedMessage(endBlock: number, end: number): string {
  return `endBlock is ${endBlock}, and every wallet is complete up to block ${Math.max(0, end - 1)}`
}

/** Labels by address, for wallets that have one. */
type Labels = ReadonlyMap<string, string>

/** Lists wallets without transactions; empty if there are none. */
export function emptyWalletLines(empty: WalletSample | undefined, labels: Labels): string[] {
  if (empty === undefined || empty.count === 0) return []
  const message = `${formatCount(empty.count, 'wallet')} without transactions: wrong chain or wrong address?`
  return [`  ${message}`, ...namedLines(empty, labels, '"transactions": 0')]
}

/** Lists wallets that are no longer in the job; empty if there are none. */
export function removedWalletLines(removed: WalletSample, labels: Labels): string[] {
  if (removed.count === 0) return []
  const message = `${formatCount(removed.count, 'wallet')} no longer in the job: exported rows are retained`
  return [`  ${message}`, ...namedLines(removed, labels, '"removed": true')]
}

function namedLines({ count, addresses }: WalletSample, labels: Labels, manifestField: string): string[] {
  const remaining = count - addresses.length
  return presentLines(
    addresses.map((address) => walletLine(address, labels)),
    remaining > 0 && `    and ${formatInteger(remaining)} more, in manifest.json with ${manifestField}`,
  )
}

function walletLine(address: string, labels: Labels): string {
  return `    ${address}  ${labels.get(address) ?? ''}`.trimEnd()
}
