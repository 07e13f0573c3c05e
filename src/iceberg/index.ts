/** Iceberg tables of an export (https://iceberg.apache.org/spec/). Loaded only for jobs with `table: iceberg`. */
export { commitToCatalog } from './commit-export.ts'
export { expireOutput } from './expire-output.ts'
export { compareSnapshots, inspectTables, type TableState } from './inspect-tables.ts'
