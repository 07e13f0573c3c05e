import { ExportError } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import { openDiagnostics } from './diagnostics.ts'
import type { FIELDS, FieldPath, WrittenValue } from './fields/fields.ts'
import type { SECTIONS } from './fields/section-fields.ts'
import { parseRoot, resolveRoot } from './read-job.ts'

/**
 * The fields of a job file as an object, with the same names, values and defaults. `addressesFile` is relative to the
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
 * Creates a job from an object. The fields are validated like those of a job file; environment variables are not read.
 *
 * @throws JOB_INVALID with all diagnostics. Their lines and columns refer to the object as JSON, indented by two spaces.
 * @example
 * ```ts
 * const job = await defineJob({ chain: 43114, addresses: ['0x…'], service: { baseUrl: 'https://…' } })
 * ```
 */
export async function defineJob(fields: JobFields): Promise<Job> {
  const diagnostics = openDiagnostics()
  const root = parseRoot(toJson(fields), UNNAMED_JOB, diagnostics)
  return resolveRoot(root, { file: UNNAMED_JOB, overrides: {}, env: {}, diagnostics })
}

/** Used as the file name in diagnostics, and as the name of a job that has none. */
const UNNAMED_JOB = 'job'

function toJson(fields: JobFields): string {
  try {
    return JSON.stringify(fields, null, 2) ?? 'null'
  } catch (cause) {
    throw new ExportError('JOB_INVALID', `${UNNAMED_JOB}: it cannot be written as JSON`, { cause })
  }
}
