import type { QueuedRun } from '../cluster/inspect-queue.ts'
import { counted, grouped, lasting } from '../terminal/format.ts'

/** A run over a queue, in lines for people. */
export function queueLines({ name, output, units, requests, quota }: QueuedRun): string[] {
  const line = (what: string, { done, left, failed }: QueuedRun['units']['read']) =>
    `  ${what}: ${grouped(done)} done, ${grouped(left)} left, ${grouped(failed)} failed`
  const rate = quota.perSecond === undefined ? 'no limit met' : `${quota.perSecond.toFixed(1)} a second`
  const paused = quota.pausedMs > 0 ? `, paused for ${lasting(quota.pausedMs)}` : ''
  return [
    `${name}: in ${output}`,
    line('reading', units.read),
    line('partitions', units.write),
    `  ${counted(requests, 'request')}, rate: ${rate}${paused}`,
  ]
}
