import {
  COMPRESSIONS,
  FEE_MODES,
  FORMAT_NAMES,
  INTERNALS,
  type JobKind,
  NUMBER_FORMATS,
  TABLE_FORMATS,
  WRAPS,
} from '../../core/model/model.ts'
import { DEFAULT_TABLES, TABLE_NAMES } from '../../core/table/index.ts'
import { addressList } from '../addresses/addresses.ts'
import { booleanField, type Field, freeText, integer, oneOf } from './field-type.ts'
import {
  chainId,
  compressionChoices,
  compressionNames,
  contractList,
  duration,
  fileSize,
  jobName,
  partitioning,
  tableList,
} from './field-types.ts'
import { SECTION_FIELDS } from './section-fields.ts'

/**
 * Every field of a job file by its path, in the order of the documentation. Validation, JSON Schema, the table in
 * jobs/README.md, options, environment variables, synonyms and the types `JobFields` and `JobOverrides` derive from it.
 *
 * To add a field, add an entry here and a property of the same name to `Job`, which receives the parsed value or the
 * default. Then update jobs/README.md and jobs/job.schema.json (`walletlake schema job` prints it): tests compare both.
 * The fields of `service` and `store` are in section-fields.ts. They, and fields that a job has in another form (listed
 * in resolve/settings.ts), are converted in resolve/resolve.ts.
 */
export const FIELDS = {
  /** Name of the run and of the default output folder. */
  name: {
    ...jobName(),
    description:
      'Name of the run and of the default output folder. Defaults to the name of the job file without its extension.',
    examples: ['treasury'],
    synonyms: 'id title job jobname',
    option: {
      name: 'name',
      value: '<name>',
      description: 'name of the job (default: <chain>-<address>)',
      inline: true,
    },
  },
  kind: {
    ...oneOf<JobKind>(['wallets', 'blocks']),
    description:
      'What to export: the histories of wallets, or every transaction of the blocks from startBlock to endBlock.',
    default: 'wallets',
    examples: ['blocks'],
    synonyms: 'mode jobkind',
  },
  /** EVM chain id or blockchain id. */
  chain: {
    ...chainId(),
    description: 'EVM chain id or blockchain id, as the data service names the chain.',
    examples: [43114, '1'],
    synonyms: 'network networkid networkname blockchain blockchainid chainname chains evmchainid',
    option: {
      name: 'chain',
      value: '<id>',
      description: 'EVM chain id or blockchain id',
      inline: true,
    },
  },
  addresses: {
    ...addressList(),
    description:
      'Wallets to export, each an address or an address with a label. A mixed-case address must match its EIP-55 checksum.',
    examples: [
      ['0x52908400098527886e0f7030069857d2e4169ee7'],
      [{ address: '0x52908400098527886e0f7030069857d2e4169ee7', label: 'treasury' }],
    ],
    synonyms: 'wallets wallet address addr addrs accounts account walletaddresses list',
    option: {
      name: 'address',
      value: '<wallet>',
      description: 'wallet, 0x… or 0x…=label (repeatable)',
      repeatable: true,
      inline: true,
    },
  },
  addressesFile: {
    ...freeText(4096),
    description:
      'File with the addresses, relative to the job file: CSV with the header address or address,label (separated by commas, semicolons or tabs; UTF-8 or UTF-16), or one address per line.',
    examples: ['wallets.csv'],
    synonyms: 'file csv walletsfile walletfile addressfile addresslist addressescsv accountsfile',
  },
  /** First block. */
  startBlock: {
    ...integer(0, Number.MAX_SAFE_INTEGER, 'genesis'),
    description: 'First block to export (inclusive).',
    default: 0,
    examples: [0, 17_000_000],
    synonyms: 'start from begin first since fromblock firstblock blockfrom blockstart',
    option: {
      name: 'start-block',
      value: '<n>',
      description: 'first block (default: 0)',
      inline: true,
    },
  },
  /** Block to stop before. */
  endBlock: {
    ...integer(1, Number.MAX_SAFE_INTEGER, "the chain's head"),
    description: 'Block to stop before (exclusive). Defaults to the head of the chain when the run starts.',
    examples: [18_000_000],
    synonyms: 'end to until last toblock lastblock untilblock blockto blockend',
    option: {
      name: 'end-block',
      value: '<n>',
      description: 'end block, exclusive (default: the head)',
      inline: true,
    },
  },
  /** Table names. */
  tables: {
    ...tableList(),
    description:
      'Tables to write. All is transactions, erc20_transfers, erc721_transfers, erc1155_transfers, internal_transactions, wallet_transactions and ledger; atomic_transactions needs atomic.',
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
    ...oneOf(FORMAT_NAMES),
    description: 'File format.',
    default: 'csv',
    examples: ['parquet'],
    synonyms: 'fileformat outputformat filetype',
    option: { name: 'format', value: '<format>', description: `File format: ${FORMAT_NAMES.join(', ')}` },
  },
  /** `files` or `iceberg`. */
  table: {
    ...oneOf(TABLE_FORMATS),
    description:
      'Table format: iceberg also makes each table an Apache Iceberg table (format parquet only); files of earlier snapshots stay until walletlake expire removes them.',
    default: 'files',
    examples: ['iceberg'],
    synonyms: 'tableformat lakehouse iceberg opentable',
    option: { name: 'table', value: '<format>', description: `Table format: ${TABLE_FORMATS.join(', ')}` },
  },
  /** `text` or `decimal`. */
  numbers: {
    ...oneOf(NUMBER_FORMATS),
    description:
      'Exact numbers: decimal also writes value_decimal DECIMAL(38, 0) and amount_decimal DECIMAL(38, 18) beside the text (format parquet only), null where they do not fit.',
    default: 'text',
    examples: ['decimal'],
    synonyms: 'numbertype numberformat decimals numeric',
    option: {
      name: 'numbers',
      value: '<kind>',
      description: `Exact numbers in Parquet: ${NUMBER_FORMATS.join(', ')}`,
    },
  },
  /** A compression that the format supports. */
  compression: {
    ...oneOf(COMPRESSIONS),
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
    option: { name: 'max-rows-per-file', value: '<n>', description: 'Start a new file after this many rows' },
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
      'Leave out transactions that are younger than this when the run starts; a later run exports them. Only without endBlock. The default of explorers is 10m.',
    default: '0s',
    examples: ['10m', '90s'],
    synonyms: 'confirmations delay lag',
    option: {
      name: 'finality',
      value: '<duration>',
      description: 'Leave out transactions younger than this (default: 0s; explorers: 10m)',
    },
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
    ...oneOf(WRAPS),
    description:
      'Wrapped native coins (WAVAX, WETH, …) that emit no Transfer event: ledger adds the movement of the token to the ledger, off leaves it out.',
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
    ...contractList(),
    description:
      'Contracts that wrap the native coin one to one, without Transfer events, besides those that walletlake knows.',
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
    ...oneOf(INTERNALS),
    description:
      'Internal transactions: listing takes those of the listed transactions; full also reads their own listing, for receipts that the other lacks, at one more request per 100 of them and per transaction that only it names.',
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
      'Also read the atomic transactions of the Avalanche C-Chain (43114, 43113): imports from the X-Chain and the P-Chain, and exports to them. Costs at least one more request per wallet, of 100 compute units.',
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
    option: { name: 'keep-raw', description: 'Keep the items as received under raw/' },
  },
  fees: {
    ...oneOf(FEE_MODES),
    description:
      'Fees of sent transactions of type 2 and later: exact requests the details of each; listed takes the listed gas price, which may be the fee cap; auto requests details only if probes show that it is.',
    default: 'auto',
    examples: ['exact', 'listed'],
    synonyms: 'fee gas gasfees gasprice transactionfees',
    option: {
      name: 'fees',
      value: '<mode>',
      description: `Fees of type-2 transactions: ${FEE_MODES.join(', ')}`,
    },
  },
  feesBudget: {
    ...integer(0, Number.MAX_SAFE_INTEGER),
    description:
      'Maximum number of details that a run with fees auto requests. If more are needed, the listed prices stay, as upper bounds.',
    default: 2000,
    examples: [10_000],
    synonyms: 'feebudget maxfees feelimit',
    option: {
      name: 'fees-budget',
      value: '<n>',
      description: 'Maximum details that --fees auto requests in a run (default: 2000)',
    },
  },
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
  if (!('option' in field)) return []
  const { option } = field
  return [{ ...option, description: withDefault(option.description, 'default' in field && field.default) }]
})

/** Adds a default to the description of an option, unless the description states it. */
function withDefault(description: string, value: unknown): string {
  const isShown = (typeof value === 'string' || typeof value === 'number') && !description.includes('default')
  return isShown ? `${description} (default: ${value})` : description
}
