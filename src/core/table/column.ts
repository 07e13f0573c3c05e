/**
 * Column types (CONTRACT section 2.1). `u256`, `i256` and `decimal` are exact decimal text; `time` is a UTC
 * instant in milliseconds.
 */
export type ColumnType = 'text' | 'int32' | 'int64' | 'bool' | 'time' | 'u256' | 'i256' | 'decimal'

export type Column = {
  readonly name: string
  readonly type: ColumnType
  readonly nullable: boolean
  /** One sentence for output/README.md, `schema` and SQL comments. */
  readonly about: string
  /** Field ids count columns by this number first. One that is added later has a higher one, so that others keep their ids. @default 1 */
  readonly since?: number
  /**
   * The program generates the text from letters, digits and `-_.`, so that it never needs quoting or escaping.
   */
  readonly isGenerated?: boolean
}

/** A table: an export table, or one that `load` creates for its records. */
export type TableDeclaration = {
  readonly name: string
  /** One sentence that describes a row. */
  readonly about: string
  /** Columns that together identify a row. */
  readonly key: readonly string[]
  readonly columns: readonly Column[]
}

/** One cell. Numbers of 64 bits and more are bigint or exact text; a time is milliseconds since 1970. */
export type Cell = string | number | bigint | boolean | null

type Declared = `${string} ${ColumnType}` | `${string} ${ColumnType}?`

type ColumnOf<D extends string> = D extends `${infer N} ${infer T extends ColumnType}?`
  ? Column & { readonly name: N; readonly type: T; readonly nullable: true }
  : D extends `${infer N} ${infer T extends ColumnType}`
    ? Column & { readonly name: N; readonly type: T; readonly nullable: false }
    : never

/** Declares a column in the notation of CONTRACT section 2: `col('gas_used int64?', 'Gas used.')`. */
export function col<const D extends Declared>(declared: D, about: string): ColumnOf<D> {
  const [name = '', type = ''] = declared.split(' ')
  const nullable = type.endsWith('?')
  const column: Column = { name, type: (nullable ? type.slice(0, -1) : type) as ColumnType, nullable, about }
  return column as ColumnOf<D>
}

/** Declares a column whose text the program generates. */
export function generated<const D extends Declared>(declared: D, about: string): ColumnOf<D> {
  return { ...col(declared, about), isGenerated: true }
}

/** The first six columns of every table. */
export const PREFIX = [
  col('chain_id text', 'EVM chain id in decimal, where it is known; otherwise the id that the service uses.'),
  col('block_number int64', 'Block number.'),
  col('block_hash text?', 'Block hash, in lowercase; null if the service does not report it.'),
  col('block_timestamp time', 'Block time in UTC, with milliseconds where the service provides them.'),
  col(
    'transaction_hash text',
    'Transaction hash, in lowercase; for an atomic transaction, its id (base 58).',
  ),
  col(
    'transaction_index int32?',
    'Position of the transaction in its block, starting at 0; 2147483647 for an atomic transaction, which takes effect after all others; null if the service does not report it.',
  ),
] as const

/** Columns for the sender and the receiver, shared by most tables. */
export const PARTIES = [
  col('from_address text?', 'Address of the sender, in lowercase; null if there is none.'),
  col('from_name text?', 'Display name of the sender in the service (untrusted text).'),
  col('to_address text?', 'Address of the receiver, in lowercase; null if there is none.'),
  col('to_name text?', 'Display name of the receiver in the service (untrusted text).'),
] as const

/**
 * Returns the ids of columns in Parquet files and Iceberg schemas, by name. They never change: columns that later schema
 * versions add get the next ids, wherever they are declared.
 */
export function fieldIds(columns: readonly Column[]): ReadonlyMap<string, number> {
  const inOrder = columns.toSorted((left, right) => (left.since ?? 1) - (right.since ?? 1))
  return new Map(inOrder.map(({ name }, at) => [name, at + 1]))
}
