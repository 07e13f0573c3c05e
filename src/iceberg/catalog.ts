import type { NewTable, TableMetadata, TableUpdate } from './metadata.ts'

/** Where the current metadata of tables is found. A commit is atomic: readers see all of it or nothing. */
export type Catalog = {
  /** Name in messages. */
  readonly name: string
  /** Returns the current metadata of a table, or undefined if there is no such table. */
  load(table: string): Promise<TableMetadata | undefined>
  create(table: string, content: NewTable): Promise<TableMetadata>
  /**
   * Applies updates to the metadata that the caller has loaded.
   *
   * @throws CATALOG_FAILED if another program has changed the table meanwhile
   */
  commit(table: string, loaded: TableMetadata, updates: readonly TableUpdate[]): Promise<TableMetadata>
}

/** The files of an output. Paths are relative to it, with forward slashes. */
export type LakeFiles = {
  /** URI of the output, without a slash at its end. */
  readonly base: string
  read(path: string): Promise<Buffer>
  write(path: string, content: Buffer): Promise<void>
  /** Paths of the files below a folder. */
  list(folder: string): Promise<readonly string[]>
  remove(path: string): Promise<void>
}

/** Returns the path of a file of the output; throws if the URI lies elsewhere. */
export function pathOf({ base }: LakeFiles, uri: string): string {
  if (!uri.startsWith(`${base}/`)) throw new Error(`${uri} is outside of ${base}`)
  return uri.slice(base.length + 1)
}
