import type { TableName } from '../table/index.ts'

/** Half-open range of blocks: `from` is in it, `to` is not. */
export type BlockRange = { readonly from: number; readonly to: number }

/** The end that is asked for while the head is not known: no chain has as many blocks, and every JSON reader keeps it. */
export const NO_END = 999_999_999_999

export type Wallet = {
  /** 0x and 40 hex digits, lower case. */
  readonly address: string
  readonly label: string | null
}

export type Compression = 'none' | 'gzip' | 'zstd' | 'snappy'
export type Format = 'csv' | 'parquet'
/** Folders inside a table's: by UTC day or month of the block, or by so many blocks, counted from block 0. */
export type PartitionBy = 'day' | 'month' | `blocks:${number}`

/** What is exported: the histories of wallets, or whole blocks whoever took part in them. */
export type JobKind = 'wallets' | 'blocks'

/** A place in an object store that speaks S3. */
export type BucketLocation = {
  readonly bucket: string
  /** What the names of all objects begin with, without a slash at its end; empty: nothing. */
  readonly prefix: string
  /** Where the store is; undefined: AWS, or what its own environment says. */
  readonly endpoint?: string | undefined
  readonly region?: string | undefined
  /** The bucket stands in the path of requests, not in the host. @default true with an endpoint */
  readonly pathStyle?: boolean | undefined
}

/** A job file after its checks: nothing optional but what may really be absent, units in the names. */
export type Job = {
  readonly name: string
  /** Where it was read from, for messages. */
  readonly file: string
  readonly kind: JobKind
  readonly chain: string
  /** Sorted by address, each once; none in a job of blocks. */
  readonly wallets: readonly Wallet[]
  readonly startBlock: number
  /** Exclusive; undefined: up to the head, pinned at the run's start. Never undefined in a job of blocks. */
  readonly endBlock: number | undefined
  readonly tables: readonly TableName[]
  readonly format: Format
  readonly compression: Compression
  /** Folder, relative to the working directory or absolute. */
  readonly output: string
  /** The object store that the export is published to; `output` then holds what is private and what is staged. */
  readonly store?: BucketLocation | undefined
  readonly maxRowsPerFile: number
  /** undefined: all files of a table lie in its folder. */
  readonly partitionBy?: PartitionBy | undefined
  /** A file ends once its lines, unpacked, have so many bytes; undefined: by rows alone. */
  readonly targetFileBytes?: number | undefined
  readonly concurrency: number
  readonly finalityMs: number
  readonly nativeSymbol: string | null
  readonly keepRaw: boolean
  readonly escapeFormulas: boolean
  readonly service: {
    /** undefined where neither command line, environment nor job names one; `demo` for the embedded service. */
    readonly baseUrl: string | undefined
    readonly apiKeyHeader: string
    readonly timeoutMs: number
  }
}
