import { basename, extname } from 'node:path'
import { DEFAULT_API, DEFAULT_FINALITY_MS } from '../../core/model/api.ts'
import { atomicNetworkOf, chainOf } from '../../core/model/chains.ts'
import { knownServiceOf } from '../../core/model/known-services.ts'
import type { Compression, Job, Wallet } from '../../core/model/model.ts'
import { ATOMIC_TABLE, TABLE_NAMES, type TableName } from '../../core/table/index.ts'
import { FORMATS } from '../../formats/index.ts'
import { isBucketUrl, parseBucketUrl, workFolder } from '../../storage/bucket-url.ts'
import { readAddressesFile } from '../addresses/addresses-file.ts'
import { invalidValue, type Problem, type RawValue, type ReportDiagnostic } from '../diagnostics.ts'
import { FIELDS, type FieldPath } from '../fields/fields.ts'
import { type GivenFields, plainSettings, type Settings, settingsOf } from './settings.ts'

/** Tables of a block job: a block listing (interface section 4.1) has no transfers and no internal transactions. */
export const BLOCK_TABLES: readonly TableName[] = ['transactions']

type JobFile = {
  readonly file: string
  /** The whole job, as the location of diagnostics about missing fields. */
  readonly root: RawValue
  /** Folder for the private state of an output in an object store. */
  readonly stateFolder: string
  /** Also report a job without a data service. */
  readonly needsService: boolean
}

type Resolving = {
  readonly given: GivenFields
  readonly settings: Settings
  readonly report: ReportDiagnostic
  /** Reports a required field that is missing. */
  readonly reportMissing: (path: FieldPath, expected: string) => void
  /** Reports a field that is given although another field excludes it or its value. */
  readonly reject: (path: FieldPath, problem: string | Problem) => void
}

/** Builds a job from its given fields: fills in defaults and checks rules between fields. */
export async function resolveJob(
  given: GivenFields,
  { file, root, stateFolder, needsService }: JobFile,
  report: ReportDiagnostic,
): Promise<Omit<Job, 'escapeFormulas'>> {
  const settings = settingsOf(given)
  const resolving: Resolving = {
    given,
    settings,
    report,
    reportMissing: (field, expected) =>
      report({ location: root.location, field, found: 'nothing', expected }),
    reject: (path, problem) => {
      const raw = given[path]?.raw
      if (raw !== undefined && !raw.isInvalid) report(invalidValue(raw, problem))
    },
  }
  const { startBlock, endBlock, targetFileSize, chain = '', partitionBy } = settings
  const name = settings.name ?? (given.name === undefined ? nameOfFile(file, root, report) : '')
  if (given.chain === undefined) resolving.reportMissing('chain', 'a chain id')
  if (endBlock !== undefined && endBlock <= startBlock)
    resolving.reject('endBlock', `an integer greater than startBlock (${startBlock}) (endBlock is exclusive)`)
  if (given.endBlock !== undefined)
    resolving.reject('finality', 'no finality: it cannot be combined with endBlock')
  checkKind(resolving)
  checkAtomic(resolving)
  if (needsService && given['service.baseUrl'] === undefined)
    resolving.reportMissing('service.baseUrl', BASE_URL_EXPECTED)
  if (settings.table === 'iceberg' && !FORMATS[settings.format].isIcebergFile)
    resolving.reject('table', 'files, unless the format is parquet')
  if (settings.numbers === 'decimal' && !FORMATS[settings.format].isTyped)
    resolving.reject('numbers', 'text, unless the format is parquet')
  const service = resolveService(resolving)
  const isOpenEnded = given.finality === undefined && endBlock === undefined
  return {
    ...plainSettings(settings),
    name,
    file,
    chain,
    tables: resolveTables(resolving),
    compression: resolveCompression(resolving),
    ...resolveOutput(settings.output ?? `output/${name}`, stateFolder, resolving),
    catalog: resolveCatalog(resolving),
    partitionBy: partitionBy === 'none' ? undefined : partitionBy,
    targetFileBytes: targetFileSize,
    finalityMs: isOpenEnded ? DEFAULT_FINALITY_MS[service.api] : settings.finality,
    nativeSymbol: settings.nativeSymbol ?? chainOf(chain)?.symbol ?? null,
    service,
    wallets: await resolveWallets(file, resolving),
  }
}

const BASE_URL_EXPECTED =
  "the service's address: here, in WALLETLAKE_BASE_URL or as --base-url (demo: the embedded one)"

function nameOfFile(file: string, root: RawValue, report: ReportDiagnostic): string {
  const fileName: RawValue = { ...root, field: 'name', value: basename(file, extname(file)) }
  const name = FIELDS.name.parse(fileName, ({ expected, ...diagnostic }) =>
    report({ ...diagnostic, expected: `${expected}: set name, because the file's name is not valid` }),
  )
  return name ?? ''
}

/** Checks a block job. It needs both ends of the range, and allows no wallets and only the `transactions` table. */
function checkKind({ given, settings, reportMissing, reject }: Resolving): void {
  if (settings.kind !== 'blocks') return
  const because = '(the kind is blocks)'
  if (given.startBlock === undefined) reportMissing('startBlock', `the first block ${because}`)
  if (given.endBlock === undefined) reportMissing('endBlock', `the block to stop before ${because}`)
  for (const path of ['addresses', 'addressesFile'] as const)
    reject(path, `no wallets, because whole blocks are exported ${because}`)
  const others = given.tables?.value?.filter((name) => !BLOCK_TABLES.includes(name)) ?? []
  const expected = `only transactions, because a block listing contains nothing else ${because}`
  if (others.length > 0) reject('tables', { found: others.join(', '), expected })
}

/** Checks `atomic`: only wallets of the C-Chain have atomic transactions, and the table of them needs the field. */
function checkAtomic({ settings, given, reject }: Resolving): void {
  const { atomic, kind, chain } = settings
  if (atomic && kind === 'blocks')
    reject('atomic', 'false: blocks do not list atomic transactions (the kind is blocks)')
  else if (atomic && chain !== undefined && atomicNetworkOf(chain) === undefined)
    reject('atomic', 'false: only the C-Chain (43114, 43113) has atomic transactions')
  if (!atomic && kind === 'wallets' && given.tables?.value?.includes(ATOMIC_TABLE))
    reject('tables', { found: ATOMIC_TABLE, expected: `no ${ATOMIC_TABLE} without atomic: true` })
}

function resolveService({ given, settings }: Resolving): Job['service'] {
  const baseUrl = settings['service.baseUrl']
  const knownService = knownServiceOf(baseUrl)
  const keyHeader = given['service.apiKeyHeader'] === undefined ? knownService?.keyHeader : undefined
  return {
    tier: settings['service.tier'],
    computeUnitsPerMinute: settings['service.computeUnitsPerMinute'],
    computeUnitsPerDay: settings['service.computeUnitsPerDay'],
    computeUnits: settings['service.computeUnits'],
    baseUrl,
    api: settings['service.api'] ?? knownService?.api ?? DEFAULT_API,
    apiKeyHeader: keyHeader ?? settings['service.apiKeyHeader'],
    timeoutMs: settings['service.timeout'],
  }
}

/** Returns the REST catalog of the job, if it has one. Reports fields of a catalog that the job does not use. */
function resolveCatalog({ given, settings, reportMissing, reject }: Resolving): Job['catalog'] {
  const isRest = settings['catalog.type'] === 'rest'
  const paths = ['catalog.uri', 'catalog.warehouse', 'catalog.namespace'] as const
  if (settings.table !== 'iceberg') {
    for (const path of ['catalog.type', ...paths] as const) reject(path, 'no catalog unless table is iceberg')
    return undefined
  }
  if (!isRest) {
    for (const path of paths) reject(path, `no ${path} unless catalog.type is rest`)
    return undefined
  }
  if (given['catalog.uri'] === undefined) reportMissing('catalog.uri', 'the URL of the catalog')
  return {
    uri: settings['catalog.uri'] ?? '',
    warehouse: settings['catalog.warehouse'],
    namespace: settings['catalog.namespace'],
  }
}

function resolveTables({ given, settings: { tables, kind, atomic } }: Resolving): Job['tables'] {
  if (given.tables !== undefined) return tables
  if (kind === 'blocks') return BLOCK_TABLES
  return atomic ? TABLE_NAMES : tables
}

/**
 * Returns the compression. If the command line overrides the format and the compression of the job file is not available
 * for it, the default compression of the new format is used instead of reporting a diagnostic.
 */
function resolveCompression({ given, settings: { format, compression }, reject }: Resolving): Compression {
  const supported = FORMATS[format].compressions
  if (compression !== undefined && supported.includes(compression)) return compression
  const isOption = (path: 'format' | 'compression') => 'option' in (given[path]?.raw.location ?? {})
  const isFormatOverridden = isOption('format') && !isOption('compression')
  const isFormatInvalid = given.format !== undefined && given.format.value === undefined
  if (compression !== undefined && !isFormatOverridden && !isFormatInvalid)
    reject('compression', `one of ${supported.join(', ')} (the format is ${format})`)
  return supported[0]
}

/** Returns the state folder: the option, else WALLETLAKE_STATE_DIR, else a folder in the working directory. */
export function stateFolderOf(option: string | undefined, env: NodeJS.ProcessEnv): string {
  return option ?? (env.WALLETLAKE_STATE_DIR || '.walletlake-state')
}

/**
 * Returns the output folder. If the output is an `s3://` URL, returns the location in the object store, and the local work
 * folder as `output`. Reports store fields of other jobs.
 */
function resolveOutput(
  output: string,
  stateFolder: string,
  { settings, reject }: Resolving,
): Pick<Job, 'output' | 'store'> {
  if (!isBucketUrl(output)) {
    if (IS_URL.test(output)) reject('output', 'a folder, or s3://bucket/prefix')
    for (const path of ['store.endpoint', 'store.region', 'store.pathStyle'] as const)
      reject(path, 'no store unless output is s3://bucket/prefix')
    return { output }
  }
  const bucket = parseBucketUrl(output)
  if (bucket === undefined) {
    reject('output', BUCKET_EXPECTED)
    return { output }
  }
  if (settings.keepRaw) reject('keepRaw', 'no raw pages where output is an object store: leave keepRaw out')
  const store = {
    ...bucket,
    endpoint: settings['store.endpoint'],
    region: settings['store.region'],
    pathStyle: settings['store.pathStyle'],
  }
  return { store, output: workFolder(store, stateFolder) }
}

/** Text that is probably a URL. Two letters are required, because a Windows drive has one. */
const IS_URL = /^[a-z][a-z0-9+.-]+:\//i

const BUCKET_EXPECTED =
  's3://bucket/prefix, the bucket of 3 to 63 of a-z, 0-9, "." and "-", the prefix without empty parts, ? and #'

/** Returns the wallets of the job or of its addresses file. Exactly one of the two is required. A block job has none. */
async function resolveWallets(
  file: string,
  { given, settings, report, reportMissing, reject }: Resolving,
): Promise<readonly Wallet[]> {
  const { addresses, addressesFile } = given
  if (given.kind !== undefined && given.kind.value !== 'wallets') return []
  if (addresses === undefined && addressesFile === undefined)
    reportMissing('addresses', 'addresses or addressesFile')
  if (addresses !== undefined && addressesFile !== undefined)
    reject('addressesFile', 'addresses or addressesFile, not both')
  else if (addressesFile?.value !== undefined)
    return readAddressesFile(addressesFile.raw, addressesFile.value, file, report)
  return settings.addresses ?? []
}
