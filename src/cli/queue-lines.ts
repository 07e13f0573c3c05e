import type { QueuedRun } from '../cluster/inspect-queue.ts'
import { formatCount, formatDuration, formatInteger } from '../terminal/format.ts'

/** Formats a queued run as lines of text. */
export function queueLines({ name, output, tasks, requests, quota }: QueuedRun): string[] {
  const line = (phase: string, { done, remaining, failed }: QueuedRun['tasks']['read']) =>
    `  ${phase}: ${formatInteger(done)} done, ${formatInteger(remaining)} remaining, ${formatInteger(failed)} failed`
  const rate = quota.perSecond === undefined ? 'no limit met' : `${quota.perSecond.toFixed(1)} a second`
  const paused = quota.pausedMs > 0 ? `, paused for ${formatDuration(quota.pausedMs)}` : ''
  return [
    `${name}: in ${output}`,
    line('reading', tasks.read),
    line('partitions', tasks.write),
    `  ${formatCount(requests, 'request')}, rate: ${rate}${paused}`,
  ]
}
