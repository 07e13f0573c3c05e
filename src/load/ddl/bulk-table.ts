import type { Manifest, ManifestFile } from '../../core/model/manifest.ts'
import type { BlockRange } from '../../core/model/model.ts'
import type { Table } from '../../core/table/index.ts'
import type { Dialect } from './dialect.ts'
import type { TableNamespace } from './table-namespace.ts'

/** One table's files, and what a warehouse's statements need to know of them. */
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
  /** The leading `'` has to be taken from text of these files. */
  readonly unescapes: boolean
}

/**
 * The condition that a row lies in blocks of this chain that the files cover. Rows carry the chain id that the service
 * gives, which may be another than the job's: those in the staging table say which.
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

/** `T.a = S.a AND …` over the key. */
export function keyCondition({ key }: Table, { quote }: Dialect): string {
  return key.map((name) => `T.${quote(name)} = S.${quote(name)}`).join(' AND ')
}
