import { checkCallOptions, OPTION } from '../core/model/call-options.ts'
import type { Job } from '../core/model/model.ts'
import { readAddressesFile } from './addresses/addresses-file.ts'
import { type Complaints, openComplaints } from './diagnostics.ts'
import { layerOfJob, parseLayers, type Values } from './resolve/config-sources.ts'
import { type JobOverrides, layerOfEnv, layerOfOverrides, OVERRIDE_NAMES } from './resolve/overrides.ts'
import type { Given } from './resolve/raw-value.ts'
import { settle, settleWallets } from './resolve/resolve.ts'
import { settleStore, stateFolderOf } from './resolve/resolve-output.ts'
import { missing } from './resolve/resolving.ts'
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
  checkCallOptions('readJob', overrides, OVERRIDES)
  const complaints = openComplaints()
  return settleRoot(await readRoot(file, complaints), { overrides, env, file, complaints, needsService })
}

/** Values are checked, with all else of the job, where they are read. */
const OVERRIDES = Object.fromEntries(OVERRIDE_NAMES.map((name) => [name, OPTION.any]))

/**
 * The job that options make without a file; the environment counts as for a file. Throws JOB_INVALID with every
 * complaint at once, which name options in place of the file.
 */
export async function readFilelessJob(options: {
  readonly overrides: JobOverrides & { readonly name: string }
  readonly env: NodeJS.ProcessEnv
}): Promise<Job> {
  const place = { option: '--chain' }
  const root: Given = { field: '', place, keyPlace: place, value: new Map() }
  return settleRoot(root, { ...options, file: options.overrides.name, complaints: openComplaints() })
}

/** Checks single options, whatever else a job needs. Throws JOB_INVALID, which names them. */
export function checkOptions(overrides: JobOverrides): void {
  const { complain, throwIfAny } = openComplaints()
  parseLayers([layerOfOverrides(overrides)], complain)
  throwIfAny()
}

type Settled = {
  readonly file: string
  readonly overrides: JobOverrides
  readonly env: NodeJS.ProcessEnv
  readonly complaints: Complaints
  readonly needsService?: boolean
}

/** The job of a file's tree. Throws JOB_INVALID. */
export async function settleRoot(root: Given, { file, complaints, ...options }: Settled): Promise<Job> {
  const { complain } = complaints
  const layers = [layerOfOverrides(options.overrides), layerOfEnv(options.env), layerOfJob(root, complain)]
  const values: Values = parseLayers(layers, complain)
  const settling = { file, root, complain }
  const stateFolder = stateFolderOf(options.overrides.stateDir, options.env)
  const job = settleStore(settle(values, settling), values, { stateFolder, complain })
  if (options.needsService && values['service.baseUrl'] === undefined)
    missing('service.baseUrl', SERVICE_EXPECTED, settling)
  const wallets = await settleWallets(values, settling, (given, path) =>
    readAddressesFile({ given, path, jobFile: file, complain }),
  )
  complaints.throwIfAny()
  return { ...job, wallets, escapeFormulas: options.overrides.escapeFormulas ?? true }
}

const SERVICE_EXPECTED =
  "the service's address: here, in WALLETLAKE_BASE_URL or as --base-url (demo: the embedded one)"

/** The file's tree; a file that can not be read has nothing further to complain of. */
async function readRoot(file: string, complaints: Complaints): Promise<Given> {
  const text = await readJobText(file, complaints.complain)
  if (text === undefined) complaints.throwIfAny()
  return parseRoot(text ?? '', file, complaints)
}

/** The tree of a job's text, a mapping. Throws JOB_INVALID for any other text: it has nothing further to complain of. */
export function parseRoot(text: string, file: string, { complain, throwIfAny }: Complaints): Given {
  const root = parseYaml(text, file, complain)
  if (root === undefined || !(root.value instanceof Map)) {
    if (root !== undefined) layerOfJob(root, complain)
    throwIfAny()
  }
  return root as Given
}
