import { ExportError } from '../core/model/errors.ts'
import type { NewTable, TableMetadata, TableUpdate } from './metadata.ts'

/** Where the current metadata of tables is found. A commit is atomic: readers see all of it or nothing. */
export type Catalog = TableReader & {
  /** @throws CATALOG_FAILED if another program has created the table meanwhile */
  create(table: string, content: NewTable): Promise<TableMetadata>
  /**
   * Applies updates to the metadata that the caller has loaded.
   *
   * @throws CATALOG_FAILED if another program has changed the table meanwhile
   */
  commit(table: string, loaded: TableMetadata, updates: readonly TableUpdate[]): Promise<TableMetadata>
}

/** The part of a catalog that only reads. */
export type TableReader = {
  /** Name in messages. */
  readonly name: string
  /** Returns the current metadata of a table, or undefined if there is no such table. */
  load(table: string): Promise<TableMetadata | undefined>
}

/** The files of an output. Paths are relative to it, with forward slashes. */
export type LakeFiles = LakeReader & {
  /** Writes a file unless there is one with its name; resolves with false if there is. */
  create(path: string, content: Buffer): Promise<boolean>
  replace(path: string, text: string): Promise<void>
  remove(path: string): Promise<void>
}

/** The part of the files of an output that only reads. */
export type LakeReader = {
  /**
   * Location of the output, without a slash at its end. Iceberg compares locations as plain text: nothing in them is
   * percent-encoded.
   */
  readonly base: string
  read(path: string): Promise<Buffer>
  /** Paths of the files below a folder. */
  list(folder: string): Promise<readonly string[]>
}

/** Returns the path of a file of the output; throws if the location is elsewhere. */
export function pathOf({ base }: Pick<LakeReader, 'base'>, location: string): string {
  if (!location.startsWith(`${base}/`)) throw new Error(`${location} is outside of ${base}`)
  return location.slice(base.length + 1)
}

/** Error of a writer whose commit is not the next one. */
export function conflictError(catalog: string, table: string): ExportError {
  return new ExportError('CATALOG_FAILED', `${catalog}: another program has changed table ${table}`, {
    fix: 'The files of the export are complete, and the commit of the other program stands. Run the same command again: it commits what the table then lacks.',
  })
}
