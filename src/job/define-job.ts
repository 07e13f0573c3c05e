import { ExportError } from '../core/model/errors.ts'
import type { Compression, Format, Job, JobKind, PartitionBy } from '../core/model/model.ts'
import type { TableName } from '../core/table/index.ts'
import { openDiagnostics } from './diagnostics.ts'
import { parseRoot, resolveRoot } from './read-job.ts'

/** A job as a job file has it, as an object: the same names, values and defaults. */
export type JobFields = {
  name?: string
  kind?: JobKind
  chain: string | number
  addresses?: readonly (string | { address: string; label?: string })[]
  /** Relative to the working directory. */
  addressesFile?: string
  startBlock?: number
  endBlock?: number
  tables?: readonly TableName[]
  format?: Format
  compression?: Compression
  output?: string
  maxRowsPerFile?: number
  partitionBy?: PartitionBy | 'none'
  targetFileSize?: string
  concurrency?: number
  finality?: string
  nativeSymbol?: string
  keepRaw?: boolean
  store?: { endpoint?: string; region?: string; pathStyle?: boolean }
  service?: { baseUrl?: string; apiKeyHeader?: string; timeout?: string }
}

/**
 * Makes a Job of an object, checked like a job file; the environment is not read. Throws JOB_INVALID with every
 * complaint at once; lines and columns in it are those of the object as JSON, two spaces an indent.
 */
export async function defineJob(fields: JobFields): Promise<Job> {
  const diagnostics = openDiagnostics()
  const root = parseRoot(toJson(fields), UNNAMED_JOB, diagnostics)
  return resolveRoot(root, { file: UNNAMED_JOB, overrides: {}, env: {}, diagnostics })
}

/** Names a job that has no name. */
const UNNAMED_JOB = 'job'

function toJson(fields: JobFields): string {
  try {
    return JSON.stringify(fields, null, 2) ?? 'null'
  } catch (cause) {
    throw new ExportError('JOB_INVALID', `${UNNAMED_JOB}: it cannot be written as JSON`, { cause })
  }
}
