import type { JobOutcome } from '../../../src/cli/monitoring/run-metrics.ts'
import { ExportError } from '../../../src/core/model/errors.ts'
import { newRunStats, type RunStats } from '../../../src/core/model/run-stats.ts'
import { testJob } from '../../helpers/jobs.ts'

/** Creates the outcome of a job that ended after 2.5 seconds. */
export function outcomeOf(name: string, exit: number, stats: Partial<RunStats> = {}): JobOutcome {
  return {
    job: testJob({ name, addresses: [] }),
    exit,
    error: exit === 0 ? undefined : new ExportError('SERVICE_UNAVAILABLE', 'the service is away'),
    stats: { ...newRunStats(3, 10_000), endedMs: 12_500, ...stats },
  }
}
