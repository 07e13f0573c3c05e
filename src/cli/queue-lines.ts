import type { QueuedRun } from '../cluster/inspect-queue.ts'
import { formatCount, formatDuration, formatInteger } from '../terminal/format.ts'

/** Formats a queued run as lines of text. */
export function queueLines({ name, output, units, requests, quota }: QueuedRun): string[] {
  const line = (label: string, { done, left: remaining, failed }: QueuedRun['units']['read']) =>
    `  ${label}: ${formatInteger(done)} done, ${formatInteger(remaining)} left, ${formatInteger(failed)} failed`
  const rate = quota.perSecond === undefined ? 'no limit met' : `${quota.perSecond.toFixed(1)} a second`
  const paused = quota.pausedMs > 0 ? `, paused for ${formatDuration(quota.pausedMs)}` : ''
  return [
    `${name}: in ${output}`,
    line('reading', units.read),
    line('partitions', units.write),
    `  ${formatCount(requests, 'request')}, rate: ${rate}${paused}`,
  ]
}
