import type { Job } from '../core/model/model.ts'
import { clockLagOf, type Figures, type RefusedWallet } from '../core/model/run-stats.ts'
import { counted, grouped, lasting, minuteOf } from './format.ts'

/** Refused wallets that are named, each with what the service said. */
const NAMED = 5
/** Lines have 80 columns. */
const LONGEST_WORDS = 74

/** Names wallets that the service refused; nothing where it refused none. */
export function refusedWalletLines(
  refused: readonly RefusedWallet[],
  labels: ReadonlyMap<string, string>,
): string[] {
  if (refused.length === 0) return []
  const more = refused.length - NAMED
  return [
    `  ${refusedWords(refused)}`,
    ...refused
      .slice(0, NAMED)
      .flatMap(({ address, error }) => [
        `    ${address}  ${labels.get(address) ?? ''}`.trimEnd(),
        `      ${error.slice(0, LONGEST_WORDS)}`,
      ]),
    ...(more > 0 ? [`    and ${grouped(more)} more, in manifest.json with "error"`] : []),
  ]
}

/** That the service refused wallets, in words. */
export function refusedWords(refused: readonly RefusedWallet[]): string {
  const what = counted(refused.length, 'wallet')
  return `the service refused ${what} and answered the others`
}

/** Says how many transactions were read and not exported, and why; nothing where there are none. */
export function leftOutLines(figures: Figures, { finalityMs }: Pick<Job, 'finalityMs'>): string[] {
  const { leftOut } = figures
  if (leftOut === undefined) return []
  const { newerThanClock } = leftOut
  const younger = leftOut.transactions - newerThanClock
  const why =
    finalityMs === 0 ? 'newer than the start of this run' : `younger than finality (${lasting(finalityMs)})`
  return [
    ...(newerThanClock > 0
      ? [`  ${counted(newerThanClock, 'transaction')} newer than this machine's clock: left out`]
      : []),
    ...(younger > 0 ? [`  ${counted(younger, 'transaction')} ${why}: left for a later run`] : []),
    ...clockWords(figures).map((line) => `  ${line}`),
  ]
}

/** That this machine's clock appears to be behind, and by how much; nothing where it does not. */
export function clockWords(figures: Pick<Figures, 'leftOut' | 'service'>): string[] {
  const { leftOut, service } = figures
  const lagMs = clockLagOf(figures)
  if (lagMs === undefined || leftOut === undefined) return []
  const times = `newest transaction: ${minuteOf(leftOut.newestMs)}; clock: ${minuteOf(leftOut.clockMs)}`
  const { aheadMs = 0 } = service
  const what = `the clock appears to be behind by at least ${spanOf(lagMs)}`
  const isAlone = service.aheadMs !== undefined && leftOut.newestMs - leftOut.clockMs > aheadMs + ALLOWED_MS
  return [
    what,
    ...(isAlone ? ["or the chain's time is ahead: the service's clock agrees with this one"] : []),
    times,
  ]
}

const DAY_MS = 86_400_000

/** A span in days where it has several. */
const spanOf = (ms: number) => (ms < 2 * DAY_MS ? lasting(ms) : counted(Math.floor(ms / DAY_MS), 'day'))

/** Milliseconds by which the service's own time may differ from that of its chain. */
const ALLOWED_MS = 60_000

/** Says that the chain has not reached the end of the job; nothing where it has, or the job has none. */
export function notReachedLines(
  { kind, endBlock }: Job,
  { endBlock: end }: Pick<Figures, 'endBlock'>,
): string[] {
  if (kind === 'blocks' || endBlock === undefined || end === undefined || end >= endBlock) return []
  return [`  not final: ${notReachedWords(endBlock, end)}`, '  the next run reads on from there']
}

/** `end`: one past the newest block seen. */
export function notReachedWords(endBlock: number, end: number): string {
  return `endBlock is ${endBlock}, and the newest block seen is ${Math.max(0, end - 1)}`
}
