import { dataApi } from './data-api/data-api.ts'
import type { Source } from './source.ts'

/** The source of every job. The main thread, worker threads and the workers of a queue all use this one. */
export const source: Source = dataApi
