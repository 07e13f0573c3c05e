import { checkCallOptions, OPTION } from '../core/model/call-options.ts'
import { ExportError } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import { type Diagnostics, openDiagnostics, type RawValue } from './diagnostics.ts'
import type { FIELDS, FieldPath, WrittenValue } from './fields/fields.ts'
import type { SECTIONS } from './fields/section-fields.ts'
import { sourceOfJob } from './resolve/config-sources.ts'
import { type JobOverrides, OVERRIDE_NAMES, sourceOfEnv, sourceOfOverrides } from './resolve/overrides.ts'
import { resolveJob, stateFolderOf } from './resolve/resolve.ts'
import { parseSources } from './resolve/settings.ts'
import { parseYaml } from './yaml/parse-yaml.ts'
import { readJobText } from './yaml/read-job-text.ts'

export type { JobOverrides } from './resolve/overrides.ts'

/**
 * Reads and validates a job file in YAML or JSON (CONTRACT section 1), and its addresses file. Overrides take precedence
 * over environment variables, which take precedence over the file.
 *
 * @param file path of the job file
 * @param options.overrides values that replace fields of the file
 * @param options.env environment from which WALLETLAKE_BASE_URL and WALLETLAKE_API_KEY_HEADER are read, such as
 *   process.env. @default none
 * @returns the job, with defaults filled in and wallets sorted by address
 * @throws JOB_INVALID with all diagnostics, each a line `file:line:column: field: found …, expected …`. The name of the
 *   option or variable replaces the location for values from there. API keys, credentials and queries are not shown.
 * @throws USAGE for unknown overrides
 * @example
 * ```ts
 * const job = await readJob('jobs/mine.yaml', { overrides: { format: 'parquet' }, env: process.env })
 * ```
 */
export async function readJob(
  file: string,
  options: {
    readonly overrides?: JobOverrides
    readonly env?: NodeJS.ProcessEnv
    /** Also report a diagnostic if no data service is configured. @default false */
    readonly needsService?: boolean
  } = {},
): Promise<Job> {
  checkCallOptions('readJob', options, {
    overrides: OPTION.object,
    env: OPTION.object,
    needsService: OPTION.flag,
  })
  const { overrides = {}, env = {}, needsService = false } = options
  checkCallOptions('readJob', overrides, OVERRIDE_CHECKS)
  const diagnostics = openDiagnostics()
  const text = await readJobText(file, diagnostics.report)
  if (text === undefined) diagnostics.throwIfAny()
  const root = parseRoot(text ?? '', file, diagnostics)
  return resolveRoot(root, { overrides, env, file, needsService }, diagnostics)
}

/** Only the names are checked here. The values are validated together with the rest of the job. */
const OVERRIDE_CHECKS = Object.fromEntries(OVERRIDE_NAMES.map((name) => [name, OPTION.any]))

/**
 * Builds a job from options without a file. Environment variables apply as for a file. Throws JOB_INVALID with all
 * diagnostics, which name options instead of file locations.
 */
export async function readInlineJob(options: {
  readonly overrides: JobOverrides & { readonly name: string }
  readonly env: NodeJS.ProcessEnv
}): Promise<Job> {
  const location = { option: '--chain' }
  const root: RawValue = { field: '', location, keyLocation: location, value: new Map() }
  return resolveRoot(root, { ...options, file: options.overrides.name }, openDiagnostics())
}

/** Validates single options without requiring a complete job. Throws JOB_INVALID, which names the options. */
export function checkOptions(overrides: JobOverrides): void {
  const { report, throwIfAny } = openDiagnostics()
  parseSources([sourceOfOverrides(overrides)], report)
  throwIfAny()
}

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
  return resolveRoot(root, { file: UNNAMED_JOB, overrides: {}, env: {} }, diagnostics)
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

type Setting = {
  readonly file: string
  readonly overrides: JobOverrides
  readonly env: NodeJS.ProcessEnv
  readonly needsService?: boolean
}

/** Builds the job from the raw values of its file. Throws JOB_INVALID. */
async function resolveRoot(
  root: RawValue,
  { file, overrides, env, needsService = false }: Setting,
  { report, throwIfAny }: Diagnostics,
): Promise<Job> {
  const sources = [sourceOfOverrides(overrides), sourceOfEnv(env), sourceOfJob(root, report)]
  const stateFolder = stateFolderOf(overrides.stateDir, env)
  const given = parseSources(sources, report)
  const job = await resolveJob(given, { file, root, stateFolder, needsService }, report)
  throwIfAny()
  return { ...job, escapeFormulas: overrides.escapeFormulas ?? true }
}

/** Parses the text of a job, which must be a mapping. Throws JOB_INVALID otherwise: no further checks are possible. */
function parseRoot(text: string, file: string, { report, throwIfAny }: Diagnostics): RawValue {
  const root = parseYaml(text, file, report)
  if (root === undefined || !(root.value instanceof Map)) {
    if (root !== undefined) sourceOfJob(root, report)
    throwIfAny()
  }
  return root as RawValue
}
