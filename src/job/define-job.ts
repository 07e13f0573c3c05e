import { ExportError } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import { openDiagnostics } from './diagnostics.ts'
import type { FIELDS, FieldPath, WrittenValue } from './fields/fields.ts'
import type { SECTIONS } from './fields/section-fields.ts'
import { parseRoot, resolveRoot } from './read-job.ts'

/**
 * A job as a job file has it, as an object: the same names, values and defaults. `addressesFile` is relative to the
 * working directory.
 */
export type JobFields = FieldsOf<'chain'> &
  Partial<FieldsOf<Exclude<TopLevelField, 'chain'>>> & {
    [Section in keyof typeof SECTIONS]?: SectionFields<Section>
  }

type TopLevelField = Exclude<FieldPath, `${string}.${string}`>
type FieldsOf<Paths extends keyof typeof FIELDS> = { -readonly [P in Paths]: WrittenValue<P> }
type SectionFields<Section extends string> = {
  [P in FieldPath as P extends `${Section}.${infer Name}` ? Name : never]?: WrittenValue<P>
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
