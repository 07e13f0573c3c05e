import type { Manifest, ManifestFile } from '../../core/model/manifest.ts'
import type { BlockRange } from '../../core/model/model.ts'
import type { Table } from '../../core/table/index.ts'
import type { Dialect } from './dialect.ts'
import type { TableNamespace } from './table-namespace.ts'

/** The files of a table, with the blocks that they cover. */
export type BulkTable = {
  readonly table: Table
  readonly files: readonly ManifestFile[]
  /** Blocks that the files cover, sorted and disjoint. */
  readonly blocks: readonly BlockRange[]
}

export type BulkContext = {
  readonly dialect: Dialect
  readonly namespace: TableNamespace
  readonly filesAt: string
  readonly folder: string | undefined
  readonly job: Manifest['job']
  /** What the warehouse must know to read files of the export's format. */
  readonly fileFormat: readonly string[]
  /** Whether a leading `'` must be removed from text in these files. */
  readonly unescapes: boolean
}

/**
 * SQL condition that a row belongs to this chain and to blocks that the files cover. Rows have the chain id that the
 * service returns, which may differ from the job's, so the ids in the staging table count too.
 */
export function blockCondition(
  { blocks }: BulkTable,
  { dialect, job, stage }: BulkContext & { readonly stage: string },
  row: string,
): string {
  const ranges = blocks.map(
    ({ from, to }) => `${row}.block_number >= ${from} AND ${row}.block_number < ${to}`,
  )
  const any = ranges.length === 1 ? ranges[0] : `(${ranges.map((range) => `(${range})`).join(' OR ')})`
  const ids = `${row}.chain_id = ${dialect.literal(job.chain)} OR ${row}.chain_id IN (SELECT chain_id FROM ${stage})`
  return `(${ids}) AND ${any}`
}

/** SQL condition `T.a = S.a AND …` over the key columns. */
export function keyCondition({ key }: Table, { quote }: Dialect): string {
  return key.map((name) => `T.${quote(name)} = S.${quote(name)}`).join(' AND ')
}
