import { checkCallOptions, OPTION } from '../core/model/call-options.ts'
import type { Job } from '../core/model/model.ts'
import { readAddressesFile } from './addresses/addresses-file.ts'
import { type Diagnostics, openDiagnostics } from './diagnostics.ts'
import { parseSources, sourceOfJob, type Values } from './resolve/config-sources.ts'
import { type JobOverrides, OVERRIDE_NAMES, sourceOfEnv, sourceOfOverrides } from './resolve/overrides.ts'
import type { RawValue } from './resolve/raw-value.ts'
import { resolveJob, resolveWallets } from './resolve/resolve.ts'
import { resolveStore, stateFolderOf } from './resolve/resolve-output.ts'
import { reportMissing } from './resolve/resolving.ts'
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
  return resolveRoot(await readRoot(file, diagnostics), { overrides, env, file, diagnostics, needsService })
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
  return resolveRoot(root, { ...options, file: options.overrides.name, diagnostics: openDiagnostics() })
}

/** Validates single options without requiring a complete job. Throws JOB_INVALID, which names the options. */
export function checkOptions(overrides: JobOverrides): void {
  const { report, throwIfAny } = openDiagnostics()
  parseSources([sourceOfOverrides(overrides)], report)
  throwIfAny()
}

type Resolved = {
  readonly file: string
  readonly overrides: JobOverrides
  readonly env: NodeJS.ProcessEnv
  readonly diagnostics: Diagnostics
  readonly needsService?: boolean
}

/** Builds the job from the raw values of its file. Throws JOB_INVALID. */
export async function resolveRoot(root: RawValue, { file, diagnostics, ...options }: Resolved): Promise<Job> {
  const { report } = diagnostics
  const sources = [sourceOfOverrides(options.overrides), sourceOfEnv(options.env), sourceOfJob(root, report)]
  const values: Values = parseSources(sources, report)
  const resolving = { file, root, report }
  const stateFolder = stateFolderOf(options.overrides.stateDir, options.env)
  const job = resolveStore(resolveJob(values, resolving), values, { stateFolder, report })
  if (options.needsService && values['service.baseUrl'] === undefined)
    reportMissing('service.baseUrl', BASE_URL_EXPECTED, resolving)
  const wallets = await resolveWallets(values, resolving, (raw, path) =>
    readAddressesFile({ raw, path, jobFile: file, report }),
  )
  diagnostics.throwIfAny()
  return { ...job, wallets, escapeFormulas: options.overrides.escapeFormulas ?? true }
}

const BASE_URL_EXPECTED =
  "the service's address: here, in WALLETLAKE_BASE_URL or as --base-url (demo: the embedded one)"

/** Reads the raw values of a file. Throws immediately if it cannot be read, because no further checks are possible. */
async function readRoot(file: string, diagnostics: Diagnostics): Promise<RawValue> {
  const text = await readJobText(file, diagnostics.report)
  if (text === undefined) diagnostics.throwIfAny()
  return parseRoot(text ?? '', file, diagnostics)
}

/** Parses the text of a job, which must be a mapping. Throws JOB_INVALID otherwise: no further checks are possible. */
export function parseRoot(text: string, file: string, { report, throwIfAny }: Diagnostics): RawValue {
  const root = parseYaml(text, file, report)
  if (root === undefined || !(root.value instanceof Map)) {
    if (root !== undefined) sourceOfJob(root, report)
    throwIfAny()
  }
  return root as RawValue
}
