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
 * Reads and checks a job file (CONTRACT section 1), YAML or JSON, and its addresses file.
 *
 * Command line wins over environment, environment over file. Throws JOB_INVALID with every complaint at once, each a
 * line `file:line:column: field: found …, expected …`; options and variables are named in place of the file.
 * No complaint shows an API key, credentials or a query. Throws USAGE for overrides that no job has.
 *
 * @param options.env where WALLETLAKE_BASE_URL and WALLETLAKE_API_KEY_HEADER count, such as process.env. @default none
 */
export async function readJob(
  file: string,
  options: {
    readonly overrides?: JobOverrides
    readonly env?: NodeJS.ProcessEnv
    /** Complain, too, where nothing says which service to ask. @default false */
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

/** Values are checked, with all else of the job, where they are read. */
const OVERRIDE_CHECKS = Object.fromEntries(OVERRIDE_NAMES.map((name) => [name, OPTION.any]))

/**
 * The job that options make without a file; the environment counts as for a file. Throws JOB_INVALID with every
 * complaint at once, which name options in place of the file.
 */
export async function readInlineJob(options: {
  readonly overrides: JobOverrides & { readonly name: string }
  readonly env: NodeJS.ProcessEnv
}): Promise<Job> {
  const location = { option: '--chain' }
  const root: RawValue = { field: '', location, keyLocation: location, value: new Map() }
  return resolveRoot(root, { ...options, file: options.overrides.name, diagnostics: openDiagnostics() })
}

/** Checks single options, whatever else a job needs. Throws JOB_INVALID, which names them. */
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

/** The job of a file's tree. Throws JOB_INVALID. */
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

/** The file's tree; a file that can not be read has nothing further to complain of. */
async function readRoot(file: string, diagnostics: Diagnostics): Promise<RawValue> {
  const text = await readJobText(file, diagnostics.report)
  if (text === undefined) diagnostics.throwIfAny()
  return parseRoot(text ?? '', file, diagnostics)
}

/** The tree of a job's text, a mapping. Throws JOB_INVALID for any other text: it has nothing further to complain of. */
export function parseRoot(text: string, file: string, { report, throwIfAny }: Diagnostics): RawValue {
  const root = parseYaml(text, file, report)
  if (root === undefined || !(root.value instanceof Map)) {
    if (root !== undefined) sourceOfJob(root, report)
    throwIfAny()
  }
  return root as RawValue
}
