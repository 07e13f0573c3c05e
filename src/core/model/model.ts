import type { TableName } from '../table/index.ts'
import type { Api } from './api.ts'
import type { QuotaSettings } from './compute-units.ts'

/** Half-open block range: `from` is included, `to` is not. */
export type BlockRange = { readonly from: number; readonly to: number }

/**
 * End block to request while the head is unknown: above the length of any chain, and exact in every JSON
 * parser.
 */
export const NO_END = 999_999_999_999

export type Wallet = {
  /** 0x and 40 hex digits, lower case. */
  readonly address: string
  readonly label: string | null
}

/** All compressions; each format supports some of them. */
export const COMPRESSIONS = ['none', 'gzip', 'zstd', 'snappy'] as const
export type Compression = (typeof COMPRESSIONS)[number]
/** Output formats. `formats/format.ts` describes how to add one. */
export const FORMAT_NAMES = ['csv', 'parquet'] as const
export type FormatName = (typeof FORMAT_NAMES)[number]
/**
 * Partition folders within a table's folder: by UTC day or month of the block, or by a number of blocks,
 * counted from block 0.
 */
export type PartitionBy = 'day' | 'month' | `blocks:${number}`

/** Whether the ledger contains the token side of wrapping and unwrapping the native coin. */
export const WRAPS = ['ledger', 'off'] as const
export type Wraps = (typeof WRAPS)[number]

/** What a job exports: the histories of wallets, or whole blocks. */
export type JobKind = 'wallets' | 'blocks'

/**
 * How fees are determined: `exact` requests the details of every transaction of type 2 and later that a wallet of the
 * job sent, `listed` takes the listed gas price, `auto` decides by a probe.
 */
export const FEE_MODES = ['auto', 'exact', 'listed'] as const
export type FeeMode = (typeof FEE_MODES)[number]

/**
 * Where internal transactions are read from: the transactions that list them, or also the separate listing of internal
 * transactions, for services whose transactions omit some.
 */
export const INTERNALS = ['listing', 'full'] as const
export type Internals = (typeof INTERNALS)[number]

/** A location in an S3-compatible object store. */
export type BucketLocation = {
  readonly bucket: string
  /** Prefix of all object keys, without a trailing slash; may be empty. */
  readonly prefix: string
  /** URL of the store; undefined for AWS, or for the endpoint that the environment names. */
  readonly endpoint?: string | undefined
  readonly region?: string | undefined
  /** Put the bucket in the request path instead of the host name. @default true with an endpoint */
  readonly pathStyle?: boolean | undefined
}

/** What makes the files of an export one table: the manifest alone, or also Iceberg metadata beside them. */
export const TABLE_FORMATS = ['files', 'iceberg'] as const
type TableFormat = (typeof TABLE_FORMATS)[number]

/** What Parquet files contain of exact numbers: their text only, or also columns of decimals. */
export const NUMBER_FORMATS = ['text', 'decimal'] as const
export type NumberFormat = (typeof NUMBER_FORMATS)[number]

/** A catalog that serves the Iceberg REST API. */
export type RestCatalog = {
  /** URL of the API, without `/v1`. */
  readonly uri: string
  /** Name of the warehouse in the catalog, if it has several. */
  readonly warehouse?: string | undefined
  /** Levels are separated by dots. */
  readonly namespace: string
}

/** A validated job. Only fields that can really be absent are optional; names contain their units. */
export type Job = {
  readonly name: string
  /** File that the job was read from, for messages. */
  readonly file: string
  readonly kind: JobKind
  readonly chain: string
  /** Sorted by address, without duplicates; empty in block jobs. */
  readonly wallets: readonly Wallet[]
  readonly startBlock: number
  /**
   * Exclusive; undefined for the head of the chain, which is pinned when the run starts. Always defined in
   * block jobs.
   */
  readonly endBlock: number | undefined
  readonly tables: readonly TableName[]
  readonly format: FormatName
  readonly compression: Compression
  /** Output folder, absolute or relative to the working directory. */
  readonly output: string
  /** Object store that the export is published to; `output` then holds private and staged files only. */
  readonly store?: BucketLocation | undefined
  readonly table: TableFormat
  readonly numbers: NumberFormat
  /** Catalog of the Iceberg tables; undefined if the files of `metadata/` are the catalog. */
  readonly catalog?: RestCatalog | undefined
  readonly maxRowsPerFile: number
  /** undefined if all files of a table are directly in its folder. */
  readonly partitionBy?: PartitionBy | undefined
  /**
   * A file is closed once its uncompressed lines reach this many bytes; undefined if only rows are counted.
   */
  readonly targetFileBytes?: number | undefined
  readonly concurrency: number
  readonly finalityMs: number
  readonly nativeSymbol: string | null
  readonly wraps: Wraps
  /** Contracts that wrap the native coin, besides those in the table of chains; in lower case, sorted. */
  readonly wrappedCoins: readonly string[]
  readonly internals: Internals
  /** Whether the atomic transactions of the C-Chain (imports from, and exports to, the X- and P-Chain) are read too. */
  readonly atomic: boolean
  readonly keepRaw: boolean
  readonly fees: FeeMode
  /** Maximum number of details that a run with fees `auto` requests. */
  readonly feesBudget: number
  readonly escapeFormulas: boolean
  readonly service: {
    /**
     * Undefined if neither the command line, the environment nor the job names one; `demo` for the embedded
     * server.
     */
    readonly baseUrl: string | undefined
    readonly api: Api
    readonly apiKeyHeader: string
    readonly timeoutMs: number
  } & QuotaSettings
}
