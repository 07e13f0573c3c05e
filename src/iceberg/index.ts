/** Iceberg tables of an export (https://iceberg.apache.org/spec/). Loaded only for jobs with `table: iceberg`. */
export { commitToCatalog, openCatalog } from './commit-export.ts'
export { expireOutput } from './expire-output.ts'
export { compareSnapshots } from './snapshots.ts'
