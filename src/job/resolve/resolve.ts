import { basename, extname } from 'node:path'
import { DEFAULT_API, DEFAULT_FINALITY_MS } from '../../core/model/api.ts'
import { atomicNetworkOf } from '../../core/model/chains.ts'
import { knownServiceOf } from '../../core/model/known-services.ts'
import type { Compression, FormatName, Job, Wallet } from '../../core/model/model.ts'
import { keyHeaderOf } from '../../core/model/service-key.ts'
import { ATOMIC_TABLE, DEFAULT_TABLES, TABLE_NAMES } from '../../core/table/index.ts'
import { FORMATS } from '../../formats/index.ts'
import { invalidValue } from '../diagnostics.ts'
import { nativeSymbolOf } from '../fields/chain.ts'
import { durationMs } from '../fields/duration.ts'
import { FIELDS } from '../fields/fields.ts'
import type { Values } from './config-sources.ts'
import { plainValues } from './plain-fields.ts'
import type { RawValue } from './raw-value.ts'
import { BLOCK_TABLES, reportBadBlocks } from './resolve-blocks.ts'
import { type Resolving, reportMissing } from './resolving.ts'

/** Builds a job from parsed values: fills in defaults and checks rules between fields. Wallets are added later. */
export function resolveJob(values: Values, resolving: Resolving): Omit<Job, 'wallets' | 'escapeFormulas'> {
  const name = resolveName(values, resolving)
  const chain =
    values.chain === undefined ? reportMissing('chain', 'a chain id', resolving) : (values.chain.value ?? '')
  const plain = plainValues(values)
  const { kind, format } = plain
  const service = resolveService(values)
  reportBadRange(values, resolving)
  if (kind === 'blocks') reportBadBlocks(values, resolving)
  reportBadAtomic(values, { kind, chain }, resolving)
  return {
    ...plain,
    name,
    file: resolving.file,
    chain,
    tables: values.tables?.value ?? defaultTables(plain),
    compression: resolveCompression(values, format, resolving),
    output: plain.output ?? `output/${name}`,
    ...resolveLayout(values),
    finalityMs:
      values.finality?.value ?? (plain.endBlock === undefined ? DEFAULT_FINALITY_MS[service.api] : 0),
    nativeSymbol: plain.nativeSymbol ?? nativeSymbolOf(chain),
    service,
  }
}

function defaultTables({ kind, atomic }: Pick<Job, 'kind' | 'atomic'>): Job['tables'] {
  if (kind === 'blocks') return BLOCK_TABLES
  return atomic ? TABLE_NAMES : DEFAULT_TABLES
}

/** Returns the wallets of the job or of its addresses file. Exactly one of the two is required. A block job has none. */
export async function resolveWallets(
  { kind, addresses, addressesFile }: Values,
  resolving: Resolving,
  readFile: (raw: RawValue, path: string) => Promise<readonly Wallet[]>,
): Promise<readonly Wallet[]> {
  if (kind !== undefined && kind.value !== 'wallets') return []
  if (addresses === undefined && addressesFile === undefined) {
    reportMissing('addresses', 'addresses or addressesFile', resolving)
  }
  if (addresses !== undefined && addressesFile !== undefined) {
    if (!addressesFile.raw.isInvalid)
      resolving.report(invalidValue(addressesFile.raw, 'addresses or addressesFile, not both'))
  } else if (addressesFile?.value !== undefined) return readFile(addressesFile.raw, addressesFile.value)
  return addresses?.value ?? []
}

function resolveName({ name }: Values, { file, root, report }: Resolving): string {
  if (name !== undefined) return name.value ?? ''
  const rawFileName: RawValue = { ...root, field: 'name', value: basename(file, extname(file)) }
  const parsedName = FIELDS.name.parse(rawFileName, (diagnostic) =>
    report({
      ...diagnostic,
      expected: `${diagnostic.expected}: set name, because the file's name is not valid`,
    }),
  )
  return parsedName ?? ''
}

/** Omits fields that are not set. */
function resolveLayout({
  partitionBy,
  targetFileSize,
}: Values): Pick<Job, 'partitionBy' | 'targetFileBytes'> {
  const by = partitionBy?.value
  const bytes = targetFileSize?.value
  return {
    ...(by === undefined || by === 'none' ? {} : { partitionBy: by }),
    ...(bytes === undefined ? {} : { targetFileBytes: bytes }),
  }
}

function resolveService(values: Values): Job['service'] {
  const quota = {
    tier: values['service.tier']?.value,
    computeUnitsPerMinute: values['service.computeUnitsPerMinute']?.value,
    computeUnitsPerDay: values['service.computeUnitsPerDay']?.value,
    computeUnits: values['service.computeUnits']?.value,
  }
  const isSet = ([, value]: [string, unknown]) => value !== undefined
  const baseUrl = values['service.baseUrl']?.value
  return {
    ...Object.fromEntries(Object.entries(quota).filter(isSet)),
    baseUrl,
    api: values['service.api']?.value ?? knownServiceOf(baseUrl)?.api ?? DEFAULT_API,
    apiKeyHeader: values['service.apiKeyHeader']?.value ?? keyHeaderOf(baseUrl),
    timeoutMs: values['service.timeout']?.value ?? durationMs(FIELDS['service.timeout'].default) ?? 0,
  }
}

/**
 * Returns the compression. If the command line overrides the format and the compression of the job file is not available
 * for it, the default compression of the new format is used instead of reporting a diagnostic.
 */
function resolveCompression(values: Values, format: FormatName, { report }: Resolving): Compression {
  const supported = FORMATS[format].compressions
  const [fallback] = supported
  const { compression } = values
  if (compression?.value === undefined || supported.includes(compression.value))
    return compression?.value ?? fallback
  const isFormatOverridden = isOption(values.format?.raw) && !isOption(compression.raw)
  const isFormatInvalid = values.format !== undefined && values.format.value === undefined
  if (!isFormatOverridden && !isFormatInvalid) {
    report(invalidValue(compression.raw, `one of ${supported.join(', ')} (the format is ${format})`))
  }
  return fallback
}

function reportBadRange({ startBlock, endBlock, finality }: Values, { report }: Resolving): void {
  const start = startBlock?.value ?? FIELDS.startBlock.default
  if (endBlock?.value !== undefined && endBlock.value <= start) {
    report(
      invalidValue(endBlock.raw, `an integer greater than startBlock (${start}) (endBlock is exclusive)`),
    )
  }
  if (endBlock !== undefined && finality !== undefined && !finality.raw.isInvalid) {
    report(invalidValue(finality.raw, 'no finality: it cannot be combined with endBlock'))
  }
}

function isOption(raw: RawValue | undefined): boolean {
  return raw !== undefined && 'option' in raw.location
}

/** Checks `atomic`: only wallets of the C-Chain have atomic transactions, and the table of them needs the field. */
function reportBadAtomic(
  { atomic, tables }: Values,
  { kind, chain }: Pick<Job, 'kind' | 'chain'>,
  { report }: Resolving,
): void {
  if (atomic?.value === true) {
    if (kind === 'blocks')
      report(invalidValue(atomic.raw, 'false: blocks do not list atomic transactions (the kind is blocks)'))
    else if (chain !== '' && atomicNetworkOf(chain) === undefined)
      report(invalidValue(atomic.raw, 'false: only the C-Chain (43114, 43113) has atomic transactions'))
  } else if (kind === 'wallets' && tables?.value?.includes(ATOMIC_TABLE) === true) {
    const expected = `no ${ATOMIC_TABLE} without atomic: true`
    report({ ...invalidValue(tables.raw, expected), found: ATOMIC_TABLE })
  }
}
