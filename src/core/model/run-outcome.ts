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

/** The outcome of one job of a run. */
export type EndedJob = Omit<RunReport, 'id'>
