import type { Job } from '../core/model/model.ts'
import { clockLagOf, type RefusedWallet, type RunStats } from '../core/model/run-stats.ts'
import { formatCount, formatDuration, formatInteger, formatMinute } from './format.ts'

/** Refused wallets that are named, each with what the service said. */
const MAX_NAMED_WALLETS = 5
/** Lines have 80 columns. */
const MAX_ERROR_LENGTH = 74

/** Names wallets that the service refused; nothing where it refused none. */
export function refusedWalletLines(
  refused: readonly RefusedWallet[],
  labels: ReadonlyMap<string, string>,
): string[] {
  if (refused.length === 0) return []
  const remaining = refused.length - MAX_NAMED_WALLETS
  return [
    `  ${refusedWalletsMessage(refused)}`,
    ...refused
      .slice(0, MAX_NAMED_WALLETS)
      .flatMap(({ address, error }) => [
        `    ${address}  ${labels.get(address) ?? ''}`.trimEnd(),
        `      ${error.slice(0, MAX_ERROR_LENGTH)}`,
      ]),
    ...(remaining > 0 ? [`    and ${formatInteger(remaining)} more, in manifest.json with "error"`] : []),
  ]
}

/** That the service refused wallets, in words. */
export function refusedWalletsMessage(refused: readonly RefusedWallet[]): string {
  const count = formatCount(refused.length, 'wallet')
  return `the service refused ${count} and answered the others`
}

/** Says how many transactions were read and not exported, and why; nothing where there are none. */
export function excludedLines(stats: RunStats, { finalityMs }: Pick<Job, 'finalityMs'>): string[] {
  const { leftOut } = stats
  if (leftOut === undefined) return []
  const { newerThanClock } = leftOut
  const younger = leftOut.transactions - newerThanClock
  const reason =
    finalityMs === 0
      ? 'newer than the start of this run'
      : `younger than finality (${formatDuration(finalityMs)})`
  return [
    ...(newerThanClock > 0
      ? [`  ${formatCount(newerThanClock, 'transaction')} newer than this machine's clock: left out`]
      : []),
    ...(younger > 0 ? [`  ${formatCount(younger, 'transaction')} ${reason}: left for a later run`] : []),
    ...clockMessages(stats).map((line) => `  ${line}`),
  ]
}

/** That this machine's clock appears to be behind, and by how much; nothing where it does not. */
export function clockMessages(stats: Pick<RunStats, 'leftOut' | 'service'>): string[] {
  const { leftOut, service } = stats
  const lagMs = clockLagOf(stats)
  if (lagMs === undefined || leftOut === undefined) return []
  const times = `newest transaction: ${formatMinute(leftOut.newestMs)}; clock: ${formatMinute(leftOut.clockMs)}`
  const { aheadMs = 0 } = service
  const lagText = `the clock appears to be behind by at least ${formatLag(lagMs)}`
  const clocksAgree =
    service.aheadMs !== undefined && leftOut.newestMs - leftOut.clockMs > aheadMs + CLOCK_TOLERANCE_MS
  return [
    lagText,
    ...(clocksAgree ? ["or the chain's time is ahead: the service's clock agrees with this one"] : []),
    times,
  ]
}

const DAY_MS = 86_400_000

/** A span in days where it has several. */
const formatLag = (ms: number) =>
  ms < 2 * DAY_MS ? formatDuration(ms) : formatCount(Math.floor(ms / DAY_MS), 'day')

/** Milliseconds by which the service's own time may differ from that of its chain. */
const CLOCK_TOLERANCE_MS = 60_000

/** Says that the chain has not reached the end of the job; nothing where it has, or the job has none. */
export function notReachedLines(
  { kind, endBlock }: Job,
  { endBlock: end }: Pick<RunStats, 'endBlock'>,
): string[] {
  if (kind === 'blocks' || endBlock === undefined || end === undefined || end >= endBlock) return []
  return [`  not final: ${notReachedMessage(endBlock, end)}`, '  the next run reads on from there']
}

/** `end`: one past the newest block seen. */
export function notReachedMessage(endBlock: number, end: number): string {
  return `endBlock is ${endBlock}, and the newest block seen is ${Math.max(0, end - 1)}`
}
