import type { Compression, Format, JobKind } from '../../core/model/model.ts'
import { TABLE_NAMES } from '../../core/table/index.ts'
import { addressList } from '../addresses/addresses.ts'
import { baseUrl } from './base-url.ts'
import { chainId } from './chain.ts'
import { duration } from './duration.ts'
import { booleanField, type FieldType, freeText, oneOf, textMatching } from './field-type.ts'
import { headerName } from './header-name.ts'
import { integer } from './integer.ts'
import { fileSize, partitioning } from './partitioning.ts'
import { tableList } from './table-list.ts'

/** One field of a job file: its meaning and the values it accepts. Validation, JSON Schema and documentation derive from it. */
export type Field<T> = FieldType<T> & {
  /** Description for editors, `walletlake schema job` and jobs/README.md. */
  readonly description: string
  /** The default, where it is a constant. */
  readonly default?: unknown
  /** Example values as written in a job file. */
  readonly examples: readonly unknown[]
}

/** Compressions by format, the default first. */
export const COMPRESSIONS = {
  csv: ['none', 'gzip'],
  parquet: ['zstd', 'snappy', 'gzip', 'none'],
} as const

/** Suggests a valid name: lower case, with `-` in place of characters that a name cannot contain. */
function suggestName(text: string): string | undefined {
  const likely = text
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|-+$/g, '')
  return likely === '' || likely === text ? undefined : likely
}

/** Every field of a job file by its path, in the order of the documentation. */
export const FIELDS = {
  name: {
    ...textMatching(
      /^[a-z0-9][a-z0-9._-]{0,63}$/,
      'a name of 1 to 64 of a-z, 0-9, ".", "_" and "-", the first a letter or digit',
      suggestName,
    ),
    description:
      'Name of the run and of the default output folder. Defaults to the name of the job file without its extension.',
    examples: ['treasury'],
  },
  kind: {
    ...oneOf<JobKind>(['wallets', 'blocks']),
    description:
      'What to export: the histories of wallets, or every transaction of the blocks from startBlock to endBlock.',
    default: 'wallets',
    examples: ['blocks'],
  },
  chain: {
    ...chainId(),
    description: 'EVM chain id or blockchain id, as the data service names the chain.',
    examples: [43114, '1'],
  },
  addresses: {
    ...addressList(),
    description:
      'Wallets to export, each an address or an address with a label. A mixed-case address must match its EIP-55 checksum.',
    examples: [
      ['0x52908400098527886e0f7030069857d2e4169ee7'],
      [{ address: '0x52908400098527886e0f7030069857d2e4169ee7', label: 'treasury' }],
    ],
  },
  addressesFile: {
    ...freeText(4096),
    description:
      'File with the addresses, in place of addresses; the path is relative to the job file. CSV with the header address or address,label (separated by commas, semicolons or tabs; UTF-8 or UTF-16), or one address per line.',
    examples: ['wallets.csv'],
  },
  startBlock: {
    ...integer(0, Number.MAX_SAFE_INTEGER, 'genesis'),
    description: 'First block to export (inclusive).',
    default: 0,
    examples: [0, 17_000_000],
  },
  endBlock: {
    ...integer(1, Number.MAX_SAFE_INTEGER, "the chain's head"),
    description: 'Block to stop before (exclusive). Defaults to the head of the chain when the run starts.',
    examples: [18_000_000],
  },
  tables: {
    ...tableList(),
    description: 'Tables to write.',
    default: TABLE_NAMES,
    examples: [['transactions', 'ledger']],
  },
  format: {
    ...oneOf<Format>(['csv', 'parquet']),
    description: 'File format.',
    default: 'csv',
    examples: ['parquet'],
  },
  compression: {
    ...oneOf<Compression>(['none', 'gzip', 'zstd', 'snappy']),
    description: 'For csv: none (default) or gzip. For parquet: zstd (default), snappy, gzip or none.',
    examples: ['gzip', 'zstd'],
  },
  output: {
    ...freeText(4096),
    description:
      'Output folder, relative to the working directory, or s3://bucket/prefix. Defaults to output/ followed by the name.',
    examples: ['output/treasury', 's3://lake/treasury'],
  },
  maxRowsPerFile: {
    ...integer(1, Number.MAX_SAFE_INTEGER),
    description: 'A table starts a new file after this many rows.',
    default: 1_000_000,
    examples: [250_000],
  },
  partitionBy: {
    ...partitioning(),
    description:
      'Hive-style partition folders inside each table, by UTC day or month of the block or by block range: none, day, month or `blocks:<n>` (n blocks per folder).',
    default: 'none',
    examples: ['day', 'blocks:100000'],
  },
  targetFileSize: {
    ...fileSize(),
    description:
      'A table also starts a new file when the rows of the current one reach this size, measured as lines before compression.',
    examples: ['256MB'],
  },
  concurrency: {
    ...integer(1, 256),
    description: 'Maximum number of requests in flight.',
    default: 16,
    examples: [4],
  },
  finality: {
    ...duration('0s', '36500d'),
    description:
      'Leave out transactions that are younger than this when the run starts; a later run exports them. Only without endBlock.',
    default: '0s',
    examples: ['10m', '90s'],
  },
  nativeSymbol: {
    ...freeText(32),
    description:
      'Symbol of the native coin in the ledger. Defaults to the symbol that belongs to the chain id, where it is known.',
    examples: ['AVAX'],
  },
  keepRaw: {
    ...booleanField(),
    description:
      'Keep the items of the pages as received under raw/: one JSON item per line, compressed with gzip.',
    default: false,
    examples: [true],
  },
  'service.baseUrl': {
    ...baseUrl(),
    description:
      'URL of the data service, with or without /v1; demo starts the embedded service. --base-url and WALLETLAKE_BASE_URL override it.',
    examples: ['https://data-api.example.com', 'demo'],
  },
  'service.apiKeyHeader': {
    ...headerName(),
    description:
      'HTTP header that carries the API key. WALLETLAKE_API_KEY_HEADER overrides it. For the hosts of the Avalanche Data API the default is x-glacier-api-key.',
    default: 'x-service-api-key',
    examples: ['x-service-api-key'],
  },
  'service.timeout': {
    ...duration('1ms', '1h'),
    description: 'Timeout of one request, including its response body.',
    default: '30s',
    examples: ['1m', '500ms'],
  },
  'store.endpoint': {
    ...textMatching(
      /^https?:\/\/[^\s?#@\\/]+\/?$/i,
      'an http or https URL of a host, without path, user and password',
    ),
    description:
      'URL of the object store for output. Defaults to AWS_ENDPOINT_URL_S3, then AWS_ENDPOINT_URL, then AWS itself.',
    examples: ['https://minio.example.com:9000'],
  },
  'store.region': {
    ...textMatching(/^[a-z0-9-]{1,63}$/, 'a region such as eu-central-1'),
    description:
      'Region of the bucket. Defaults to AWS_REGION, then to the AWS profile, or to us-east-1 for other stores.',
    examples: ['eu-central-1'],
  },
  'store.pathStyle': {
    ...booleanField(),
    description:
      'Address the bucket in the URL path instead of the host name. Defaults to true if endpoint is set.',
    examples: [true],
  },
} as const satisfies Record<string, Field<unknown>>

export type FieldPath = keyof typeof FIELDS
export type FieldValue<P extends FieldPath> = NonNullable<ReturnType<(typeof FIELDS)[P]['parse']>>

export const FIELD_PATHS = Object.keys(FIELDS) as readonly FieldPath[]
