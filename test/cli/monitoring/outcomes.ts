import type { JobOutcome } from '../../../src/cli/monitoring/run-metrics.ts'
import { ExportError } from '../../../src/core/model/errors.ts'
import { type Figures, newFigures } from '../../../src/core/model/run-stats.ts'
import { testJob } from '../../helpers/jobs.ts'

/** A job that ended after 2.5 seconds. */
export function outcomeOf(name: string, exit: number, figures: Partial<Figures> = {}): JobOutcome {
  return {
    job: testJob({ name, addresses: [] }),
    exit,
    error: exit === 0 ? undefined : new ExportError('SERVICE_UNAVAILABLE', 'the service is away'),
    figures: { ...newFigures(3, 10_000), endedMs: 12_500, ...figures },
  }
}
