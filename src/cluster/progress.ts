import type { RunStats } from '../core/model/run-stats.ts'
import { type Progress, SHARED_COUNTERS, type SharedServer } from './server/shared-server.ts'

export async function readProgress(server: SharedServer, id: string): Promise<Progress> {
  const counts = await server.readProgress(id)
  return Object.fromEntries(SHARED_COUNTERS.map((name) => [name, counts[name] ?? 0])) as Progress
}

/** Adds a worker's counts since its last report to the shared counters; updates `reported` in place. */
export async function addProgress(
  server: SharedServer,
  id: string,
  { stats, reported }: ProgressReport,
): Promise<void> {
  const increments: Partial<Progress> = {}
  for (const name of SHARED_COUNTERS) {
    const count = stats[name] - (reported[name] ?? 0)
    if (count > 0) increments[name] = count
    reported[name] = stats[name]
  }
  if (Object.keys(increments).length > 0) await server.addProgress(id, increments)
}

export type ProgressReport = { stats: RunStats; reported: Partial<Progress> }
