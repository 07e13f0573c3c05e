import type { Compression, Format, JobKind } from '../core/model.ts'
import { TABLE_NAMES } from '../core/table/index.ts'
import { addressList } from './addresses.ts'
import { baseUrl } from './base-url.ts'
import { chainId } from './chain.ts'
import { duration } from './duration.ts'
import { headerName } from './header-name.ts'
import { freeText, type Kind, matching, oneOf, trueOrFalse } from './kinds.ts'
import { fileSize, partitioning } from './layout.ts'
import { tableList } from './table-list.ts'
import { wholeNumber } from './whole-number.ts'

/** One field of a job file: what it means and what it accepts; validation and JSON Schema derive from it. */
export type Field<T> = Kind<T> & {
  /** Prose for editors and `walletlake schema job`. */
  readonly about: string
  /** What holds without the field, where that is a constant. */
  readonly default?: unknown
  /** Values as a job file has them. */
  readonly examples: readonly unknown[]
}

/** What each format can be compressed with, its default first. */
export const COMPRESSIONS = {
  csv: ['none', 'gzip'],
  parquet: ['zstd', 'snappy', 'gzip', 'none'],
} as const

/** The name that a text most likely means: in lower case, with `-` for what a name cannot have. */
function likelyName(text: string): string | undefined {
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
    ...matching(
      /^[a-z0-9][a-z0-9._-]{0,63}$/,
      'a name of 1 to 64 of a-z, 0-9, ".", "_" and "-", the first a letter or digit',
      likelyName,
    ),
    about: "Names the output folder and the run. Without it, the file's name without its extension.",
    examples: ['treasury'],
  },
  kind: {
    ...oneOf<JobKind>(['wallets', 'blocks']),
    about:
      'What is exported: the histories of wallets, or all transactions of the blocks from startBlock to endBlock.',
    default: 'wallets',
    examples: ['blocks'],
  },
  chain: {
    ...chainId(),
    about: 'EVM chain id or blockchain id, as the service names the chain.',
    examples: [43114, '1'],
  },
  addresses: {
    ...addressList(),
    about:
      'The wallets: each an address, or an address with your label. Mixed letter case has to fit its checksum.',
    examples: [
      ['0x52908400098527886e0f7030069857d2e4169ee7'],
      [{ address: '0x52908400098527886e0f7030069857d2e4169ee7', label: 'treasury' }],
    ],
  },
  addressesFile: {
    ...freeText(4096),
    about:
      'Instead of addresses, a file of them beside the job: CSV with the header address or address,label (commas, semicolons or tabs; UTF-8 or UTF-16), or one address a line.',
    examples: ['wallets.csv'],
  },
  startBlock: {
    ...wholeNumber(0, Number.MAX_SAFE_INTEGER, 'genesis'),
    about: 'First block, itself included.',
    default: 0,
    examples: [0, 17_000_000],
  },
  endBlock: {
    ...wholeNumber(1, Number.MAX_SAFE_INTEGER, "the chain's head"),
    about: "Block to stop before, itself not included. Without it, the chain's head when the run starts.",
    examples: [18_000_000],
  },
  tables: {
    ...tableList(),
    about: 'Which tables are written.',
    default: TABLE_NAMES,
    examples: [['transactions', 'ledger']],
  },
  format: {
    ...oneOf<Format>(['csv', 'parquet']),
    about: 'Format of the files.',
    default: 'csv',
    examples: ['parquet'],
  },
  compression: {
    ...oneOf<Compression>(['none', 'gzip', 'zstd', 'snappy']),
    about: 'csv: none (default) or gzip. parquet: zstd (default), snappy, gzip or none.',
    examples: ['gzip', 'zstd'],
  },
  output: {
    ...freeText(4096),
    about:
      'Folder for the files, relative to the working directory, or s3://bucket/prefix. Without it, output/ and the name.',
    examples: ['output/treasury', 's3://lake/treasury'],
  },
  maxRowsPerFile: {
    ...wholeNumber(1, Number.MAX_SAFE_INTEGER),
    about: 'A table goes on in its next file after so many rows.',
    default: 1_000_000,
    examples: [250_000],
  },
  partitionBy: {
    ...partitioning(),
    about:
      "Folders inside each table's, Hive-style, by UTC day or month of the block, or by so many blocks: none, day, month or blocks:<n>.",
    default: 'none',
    examples: ['day', 'blocks:100000'],
  },
  targetFileSize: {
    ...fileSize(),
    about:
      'A table also goes on in its next file once the lines of one, before compression, have so many bytes.',
    examples: ['256MB'],
  },
  concurrency: {
    ...wholeNumber(1, 256),
    about: 'Requests in flight, at most.',
    default: 16,
    examples: [4],
  },
  finality: {
    ...duration('0s', '36500d'),
    about:
      "Transactions younger than this at the run's start are left for a later run. Only without endBlock.",
    default: '0s',
    examples: ['10m', '90s'],
  },
  nativeSymbol: {
    ...freeText(32),
    about: "Symbol of the chain's coin in the ledger. Without it, by chain id where known.",
    examples: ['AVAX'],
  },
  keepRaw: {
    ...trueOrFalse(),
    about: "Keep the service's pages as received, one JSON item a line, gzip, under raw/.",
    default: false,
    examples: [true],
  },
  'service.baseUrl': {
    ...baseUrl(),
    about:
      'Where the service is, with or without /v1; demo starts the embedded one. --base-url and WALLETLAKE_BASE_URL win over it.',
    examples: ['https://data-api.example.com', 'demo'],
  },
  'service.apiKeyHeader': {
    ...headerName(),
    about:
      'Header that carries the key of WALLETLAKE_API_KEY. WALLETLAKE_API_KEY_HEADER wins over it. Hosts of the Avalanche Data API get x-glacier-api-key by default.',
    default: 'x-service-api-key',
    examples: ['x-service-api-key'],
  },
  'service.timeout': {
    ...duration('1ms', '1h'),
    about: 'Time for one request, its body included.',
    default: '30s',
    examples: ['1m', '500ms'],
  },
  'store.endpoint': {
    ...matching(
      /^https?:\/\/[^\s?#@\\/]+\/?$/i,
      'an http or https URL of a host, without path, user and password',
    ),
    about: 'Where the object store of output is. Without it AWS, or AWS_ENDPOINT_URL_S3.',
    examples: ['https://minio.example.com:9000'],
  },
  'store.region': {
    ...matching(/^[a-z0-9-]{1,63}$/, 'a region such as eu-central-1'),
    about: 'Region of the bucket. Without it, AWS_REGION.',
    examples: ['eu-central-1'],
  },
  'store.pathStyle': {
    ...trueOrFalse(),
    about:
      'The bucket stands in the path of requests, not in the host. Without it, true where endpoint is given.',
    examples: [true],
  },
} as const satisfies Record<string, Field<unknown>>

export type FieldPath = keyof typeof FIELDS
export type FieldValue<P extends FieldPath> = NonNullable<ReturnType<(typeof FIELDS)[P]['parse']>>

export const FIELD_PATHS = Object.keys(FIELDS) as readonly FieldPath[]
