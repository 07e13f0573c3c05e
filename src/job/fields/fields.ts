import {
  FORMAT_NAMES,
  type FormatName,
  INTERNALS,
  type Internals,
  WRAPS,
  type Wraps,
} from '../../core/model/model.ts'
import { DEFAULT_TABLES, TABLE_NAMES } from '../../core/table/index.ts'
import { addressList } from './address-list.ts'
import { compression, compressionChoices, compressionNames } from './compression.ts'
import { duration } from './duration.ts'
import { FEE_FIELDS } from './fee-fields.ts'
import { booleanField, type Field, freeText, oneOf } from './field-type.ts'
import { integer } from './integer.ts'
import { fileSize, partitioning } from './partitioning.ts'
import { SECTION_FIELDS } from './section-fields.ts'
import { SELECTION_FIELDS } from './selection-fields.ts'
import { tableList } from './table-list.ts'

/**
 * Every field of a job file by its path, in the order of the documentation. Validation, JSON Schema, the table in
 * jobs/README.md, options, environment variables, synonyms and the types `JobFields` and `JobOverrides` derive from it.
 *
 * To add a field, add an entry here and a property of the same name to `Job`, which receives the parsed value or the
 * default. Then update jobs/README.md and jobs/job.schema.json (`walletlake schema job` prints it): tests compare both.
 * The fields that select what is exported are in selection-fields.ts, those of `service` and `store` in
 * section-fields.ts. The latter, and fields that a job has in another form (listed in resolve/plain-fields.ts), are
 * converted in resolve/resolve.ts.
 */
export const FIELDS = {
  ...SELECTION_FIELDS,
  /** Table names. */
  tables: {
    ...tableList(),
    description: 'Tables to write.',
    default: DEFAULT_TABLES,
    examples: [['transactions', 'ledger']],
    synonyms: 'datasets columns include',
    option: {
      name: 'tables',
      value: '<names>',
      description: `Tables, comma-separated: ${TABLE_NAMES.join(', ')}`,
      repeatable: true,
    },
  },
  /** Name of a format. */
  format: {
    ...oneOf<FormatName>(FORMAT_NAMES),
    description: 'File format.',
    default: 'csv',
    examples: ['parquet'],
    synonyms: 'fileformat outputformat filetype',
    option: { name: 'format', value: '<format>', description: `File format: ${FORMAT_NAMES.join(', ')}` },
  },
  /** A compression that the format supports. */
  compression: {
    ...compression(),
    description: compressionChoices()
      .map((choice) => `For ${choice}.`)
      .join(' '),
    examples: ['gzip', 'zstd'],
    option: {
      name: 'compression',
      value: '<name>',
      description: compressionNames(),
    },
  },
  /** Folder for the files, or `s3://bucket/prefix`. */
  output: {
    ...freeText(4096),
    description:
      'Output folder, relative to the working directory, or s3://bucket/prefix. Defaults to output/ followed by the name.',
    examples: ['output/treasury', 's3://lake/treasury'],
    synonyms: 'out folder dir directory outdir outputdir outputfolder path destination target',
    option: {
      name: 'output',
      value: '<location>',
      description: 'Output folder or s3://bucket/prefix (one job only)',
    },
  },
  maxRowsPerFile: {
    ...integer(1, Number.MAX_SAFE_INTEGER),
    description: 'A table starts a new file after this many rows.',
    default: 1_000_000,
    examples: [250_000],
    synonyms: 'rows maxrows rowsperfile rowlimit',
  },
  /** `none`, `day`, `month` or `blocks:<n>`. */
  partitionBy: {
    ...partitioning(),
    description:
      'Hive-style partition folders inside each table, by UTC day or month of the block or by block range: none, day, month or `blocks:<n>` (n blocks per folder).',
    default: 'none',
    examples: ['day', 'blocks:100000'],
    synonyms: 'partition partitions partitioning groupby',
    option: {
      name: 'partition-by',
      value: '<unit>',
      description: 'Partition tables into folders: none, day, month, blocks:<n>',
    },
  },
  /** Size of a file's lines before compression, such as `256MB`. */
  targetFileSize: {
    ...fileSize(),
    description:
      'A table also starts a new file when the rows of the current one reach this size, measured as lines before compression.',
    examples: ['256MB'],
    synonyms: 'maxfilesize filesize maxsize',
    option: {
      name: 'target-file-size',
      value: '<size>',
      description: 'Start a new file at this size before compression, such as 256MB',
    },
  },
  /** Requests in flight, 1 to 256. */
  concurrency: {
    ...integer(1, 256),
    description: 'Maximum number of requests in flight.',
    default: 16,
    examples: [4],
    synonyms: 'parallel parallelism threads workers connections maxconcurrency',
    option: { name: 'concurrency', value: '<n>', description: 'Maximum concurrent requests, 1 to 256' },
  },
  finality: {
    ...duration('0s', '36500d'),
    description:
      'Leave out transactions that are younger than this when the run starts; a later run exports them. Only without endBlock. The default of explorers is 10m, because their listings are indexed at different times.',
    default: '0s',
    examples: ['10m', '90s'],
    synonyms: 'confirmations delay lag',
  },
  nativeSymbol: {
    ...freeText(32),
    description:
      'Symbol of the native coin in the ledger. Defaults to the symbol that belongs to the chain id, where it is known.',
    examples: ['AVAX'],
    synonyms: 'symbol coin currency nativecoin nativecurrency',
  },
  /** `ledger` or `off`. */
  wraps: {
    ...oneOf<Wraps>(WRAPS),
    description:
      'Wrapped native coins (WAVAX, WETH, …), which emit no Transfer event when they are wrapped and unwrapped: ledger adds the movement of the token to the ledger, off leaves it out.',
    default: 'ledger',
    examples: ['off'],
    synonyms: 'wrap unwrap wrapped',
    option: {
      name: 'wraps',
      value: '<mode>',
      description: 'Token side of wrapped native coins: ledger, off',
    },
  },
  /** Addresses of contracts. */
  wrappedCoins: {
    ...addressList(),
    description:
      'Contracts that wrap the native coin of the chain one to one, without Transfer events, besides those that walletlake knows: wraps treats all of them alike.',
    default: [],
    examples: [['0x5555555555555555555555555555555555555555']],
    synonyms: 'wrappedcoin wrappedtoken wrappednative weth wavax',
    option: {
      name: 'wrapped-coins',
      value: '<addresses>',
      description: 'Further contracts that wrap the native coin, comma-separated',
      repeatable: true,
    },
  },
  /** `listing` or `full`. */
  internals: {
    ...oneOf<Internals>(INTERNALS),
    description:
      'Internal transactions: listing takes those that the listed transactions contain; full also reads the listing of internal transactions, for receipts that the listing of transactions lacks, at one more request per 100 of them and per transaction that only it names.',
    default: 'listing',
    examples: ['full'],
    synonyms: 'internal internaltransactions internaltxs traces',
    option: {
      name: 'internals',
      value: '<mode>',
      description: `Internal transactions: ${INTERNALS.join(', ')} (also read their own listing)`,
    },
  },
  atomic: {
    ...booleanField(),
    description:
      'Also read the atomic transactions of the Avalanche C-Chain (43114, 43113): imports from the X-Chain and the P-Chain, and exports to them, which change the balance of a wallet and are not EVM transactions. Costs at least one more request per wallet, of 100 compute units.',
    default: false,
    examples: [true],
    synonyms: 'atomics atomictransactions imports exports crosschain',
    option: { name: 'atomic', description: 'Also read the atomic imports and exports of the C-Chain' },
  },
  keepRaw: {
    ...booleanField(),
    description:
      'Keep the items of the pages as received under raw/: one JSON item per line, compressed with gzip.',
    default: false,
    examples: [true],
    synonyms: 'raw saveraw',
  },
  ...FEE_FIELDS,
  ...SECTION_FIELDS,
} as const satisfies Record<string, Field<unknown>>

export type FieldPath = keyof typeof FIELDS
/** The value of a field after parsing. */
export type FieldValue<P extends FieldPath> = NonNullable<ReturnType<(typeof FIELDS)[P]['parse']>>
/** The value of a field as written in a job file. */
export type WrittenValue<P extends FieldPath> = NonNullable<(typeof FIELDS)[P]['written']>

export const FIELD_PATHS = Object.keys(FIELDS) as readonly FieldPath[]

/** The options of these fields come first in the help, the others follow in the order of the fields. */
const FIRST_IN_HELP: readonly FieldPath[] = ['chain', 'addresses', 'service.baseUrl', 'output']

/** The options that override fields. */
export const FIELD_OPTIONS = [...new Set([...FIRST_IN_HELP, ...FIELD_PATHS])].flatMap((path) => {
  const field = FIELDS[path]
  return 'option' in field ? [field.option] : []
})
