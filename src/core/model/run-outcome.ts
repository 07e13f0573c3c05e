import type { ExportError } from './errors.ts'
import type { Job } from './model.ts'
import type { RunStats } from './run-stats.ts'

export type RunReport = {
  id: string
  job: Job
  state: string
  error: ExportError | undefined
  stats: RunStats
}

/** How one job of a run ended. */
export type EndedJob = Omit<RunReport, 'id'>
