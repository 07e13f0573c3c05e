import type { ExportError } from './errors.ts'
import type { Job } from './model.ts'
import type { Figures } from './run-stats.ts'

export type RunReport = {
  id: string
  job: Job
  state: string
  error: ExportError | undefined
  figures: Figures
}

/** How one job of a run ended. */
export type Ended = Omit<RunReport, 'id'>
