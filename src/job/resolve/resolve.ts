import { basename, extname } from 'node:path'
import type { Compression, Format, Job, Wallet } from '../../core/model/model.ts'
import { keyHeaderOf } from '../../core/model/service-key.ts'
import { TABLE_NAMES } from '../../core/table/index.ts'
import { against } from '../diagnostics.ts'
import { nativeSymbolOf } from '../fields/chain.ts'
import { durationMs } from '../fields/duration.ts'
import { COMPRESSIONS, FIELDS } from '../fields/fields.ts'
import type { Values } from './config-sources.ts'
import type { Given } from './raw-value.ts'
import { BLOCK_TABLES, complainOfBlocks } from './resolve-blocks.ts'
import { missing, type Settling } from './resolving.ts'

/** The job that checked values make: defaults filled in, rules between fields checked. Wallets are added later. */
export function settle(values: Values, settling: Settling): Omit<Job, 'wallets' | 'escapeFormulas'> {
  const name = settleName(values, settling)
  const chain =
    values.chain === undefined ? missing('chain', 'a chain id', settling) : (values.chain.value ?? '')
  const kind = values.kind?.value ?? FIELDS.kind.default
  const format = values.format?.value ?? FIELDS.format.default
  complainOfRange(values, settling)
  if (kind === 'blocks') complainOfBlocks(values, settling)
  return {
    name,
    file: settling.file,
    kind,
    chain,
    startBlock: values.startBlock?.value ?? FIELDS.startBlock.default,
    endBlock: values.endBlock?.value,
    tables: values.tables?.value ?? (kind === 'blocks' ? BLOCK_TABLES : TABLE_NAMES),
    format,
    compression: settleCompression(values, format, settling),
    output: values.output?.value ?? `output/${name}`,
    maxRowsPerFile: values.maxRowsPerFile?.value ?? FIELDS.maxRowsPerFile.default,
    ...settleLayout(values),
    concurrency: values.concurrency?.value ?? FIELDS.concurrency.default,
    finalityMs: values.finality?.value ?? 0,
    nativeSymbol: values.nativeSymbol?.value ?? nativeSymbolOf(chain),
    keepRaw: values.keepRaw?.value ?? FIELDS.keepRaw.default,
    service: settleService(values),
  }
}

/**
 * The wallets listed in the job, or those of its addresses file; one of the two must be there, and not both. A job of
 * blocks has none.
 */
export async function settleWallets(
  { kind, addresses, addressesFile }: Values,
  settling: Settling,
  readFile: (given: Given, path: string) => Promise<readonly Wallet[]>,
): Promise<readonly Wallet[]> {
  if (kind !== undefined && kind.value !== 'wallets') return []
  if (addresses === undefined && addressesFile === undefined) {
    missing('addresses', 'addresses or addressesFile', settling)
  }
  if (addresses !== undefined && addressesFile !== undefined) {
    if (!addressesFile.given.isRefused)
      settling.complain(against(addressesFile.given, 'addresses or addressesFile, not both'))
  } else if (addressesFile?.value !== undefined) return readFile(addressesFile.given, addressesFile.value)
  return addresses?.value ?? []
}

function settleName({ name }: Values, { file, root, complain }: Settling): string {
  if (name !== undefined) return name.value ?? ''
  const ofFile: Given = { ...root, field: 'name', value: basename(file, extname(file)) }
  const named = FIELDS.name.parse(ofFile, (complaint) =>
    complain({ ...complaint, expected: `${complaint.expected}: set name, for the file's name is none` }),
  )
  return named ?? ''
}

/** What is not given is absent. */
function settleLayout({ partitionBy, targetFileSize }: Values): Pick<Job, 'partitionBy' | 'targetFileBytes'> {
  const by = partitionBy?.value
  const bytes = targetFileSize?.value
  return {
    ...(by === undefined || by === 'none' ? {} : { partitionBy: by }),
    ...(bytes === undefined ? {} : { targetFileBytes: bytes }),
  }
}

function settleService(values: Values): Job['service'] {
  return {
    baseUrl: values['service.baseUrl']?.value,
    apiKeyHeader: values['service.apiKeyHeader']?.value ?? keyHeaderOf(values['service.baseUrl']?.value),
    timeoutMs: values['service.timeout']?.value ?? durationMs(FIELDS['service.timeout'].default) ?? 0,
  }
}

/** The default of a format that the command line sets replaces a compression that only the job's own format has. */
function settleCompression(values: Values, format: Format, { complain }: Settling): Compression {
  const fitting: readonly Compression[] = COMPRESSIONS[format]
  const fallback = COMPRESSIONS[format][0]
  const { compression } = values
  if (compression?.value === undefined || fitting.includes(compression.value))
    return compression?.value ?? fallback
  const formatOverridden = isOption(values.format?.given) && !isOption(compression.given)
  const formatRefused = values.format !== undefined && values.format.value === undefined
  if (!formatOverridden && !formatRefused) {
    complain(against(compression.given, `one of ${fitting.join(', ')} (the format is ${format})`))
  }
  return fallback
}

function complainOfRange({ startBlock, endBlock, finality }: Values, { complain }: Settling): void {
  const start = startBlock?.value ?? FIELDS.startBlock.default
  if (endBlock?.value !== undefined && endBlock.value <= start) {
    complain(
      against(
        endBlock.given,
        `an integer greater than startBlock (${start}), for the range ends before endBlock`,
      ),
    )
  }
  if (endBlock !== undefined && finality !== undefined && !finality.given.isRefused) {
    complain(against(finality.given, 'no finality beside endBlock: it holds only where the end is the head'))
  }
}

function isOption(given: Given | undefined): boolean {
  return given !== undefined && 'option' in given.place
}
