import { ExportError } from '../../core/model/errors.ts'
import type { Manifest, ManifestTable } from '../../core/model/manifest.ts'
import type { BlockRange } from '../../core/model/model.ts'
import { optionError } from '../../core/model/option-error.ts'
import { GENERATOR } from '../../core/model/version.ts'
import { TABLES, type Table } from '../../core/table/index.ts'
import { FORMATS } from '../../formats/index.ts'
import { BIGQUERY_FORMATS, bigqueryLoad } from './bigquery-load.ts'
import type { BulkContext, BulkTable } from './bulk-table.ts'
import { DIALECTS } from './dialects.ts'
import { SNOWFLAKE_FORMATS, snowflakeLoad } from './snowflake-load.ts'

/** A warehouse that loads files itself from a location that it can access. */
type BulkEngine = 'bigquery' | 'snowflake'

export type BulkLoadOptions = {
  readonly engine: BulkEngine
  readonly manifest: Manifest
  /** Project and dataset, or database and schema. The last name is the schema. */
  readonly names: readonly string[]
  readonly prefix?: string | undefined
  /** Location from which the warehouse reads the files: `gs://bucket/path` or `@stage/path`. */
  readonly filesAt?: string | undefined
  /** The local output folder, for statements that upload the files to the stage. */
  readonly folder?: string | undefined
  /** @default all tables */
  readonly tables?: readonly Table[] | undefined
  readonly unescapeFormulas: boolean
}

const FILES_AT = { bigquery: /^gs:\/\/[^/\s']+(?:\/[^\s'*]*)?$/, snowflake: /^@[^\s']+$/ }

/**
 * Returns a script that loads a manifest's files into a warehouse: per table, CREATE TABLE, a staging table and a
 * MERGE. Rows of the manifest's blocks that the files do not contain are deleted.
 *
 * @throws ExportError USAGE if the location of the files is missing or invalid for the warehouse, or if the warehouse
 *   cannot load their format
 */
export function bulkLoadText(options: BulkLoadOptions): string {
  const { engine, manifest, names, prefix, folder, tables = TABLES, unescapeFormulas } = options
  const { job } = manifest
  const dialect = DIALECTS[engine]
  const context: BulkContext = {
    dialect,
    folder,
    job,
    filesAt: filesAtOf(options),
    namespace: { schema: schemaOf(options) ?? dialect.defaultSchema, prefix },
    fileFormat: fileFormatOf(options),
    unescapes: unescapeFormulas && FORMATS[job.format].escapesFormulas,
  }
  const listed = tables.flatMap((table) => {
    const manifestTable = manifest.tables[table.name]
    return manifestTable === undefined ? [] : [describeTable(table, manifestTable)]
  })
  const write = engine === 'bigquery' ? bigqueryLoad : snowflakeLoad
  const header = [
    `-- ${GENERATOR}: loads the output ${printable(job.name)} of chain ${printable(job.chain)} into ${dialect.title}.`,
    '-- The statements marked "removes" delete rows of its blocks that the output no longer contains. Leave them out',
    '-- if another output with the same blocks is loaded into the same tables.',
  ]
  return `${header.join('\n')}\n\n${write(listed, { ...context, names }).join('\n\n')}\n`
}

/** The schema name. BigQuery takes project and dataset as one quoted name. */
function schemaOf({ engine, names }: BulkLoadOptions): string | undefined {
  return engine === 'bigquery' && names.length > 0 ? names.join('.') : names.at(-1)
}

function filesAtOf({ engine, filesAt, manifest, folder }: BulkLoadOptions): string {
  const location =
    filesAt ?? (engine === 'snowflake' && folder !== undefined ? `@~/walletlake/${manifest.job.name}` : '')
  if (FILES_AT[engine].test(location)) return location.replace(/\/$/, '')
  const example = engine === 'bigquery' ? 'gs://my-bucket/my-output' : '@my_stage/my-output'
  throw optionError('files-at', {
    found: location,
    expected: `a location such as ${example}`,
    fix: `Copy the output folder to a location that ${DIALECTS[engine].title} can read, and pass it with --files-at.`,
  })
}

const FILE_FORMATS = { bigquery: BIGQUERY_FORMATS, snowflake: SNOWFLAKE_FORMATS }

function fileFormatOf({ engine, manifest: { job } }: BulkLoadOptions): readonly string[] {
  const fileFormat = FILE_FORMATS[engine][job.format]
  if (fileFormat !== undefined) return fileFormat
  const { title } = DIALECTS[engine]
  throw new ExportError('USAGE', `walletlake has no script that loads ${job.format} files into ${title}`, {
    fix: `Export as ${Object.keys(FILE_FORMATS[engine]).join(' or ')}.`,
  })
}

function describeTable(table: Table, { files }: ManifestTable): BulkTable {
  const blocks: BlockRange[] = []
  const ranges = files.map(({ fromBlock, toBlock }) => ({ from: fromBlock, to: toBlock }))
  for (const range of ranges.sort((a, b) => a.from - b.from)) {
    const last = blocks.at(-1)
    if (last === undefined || last.to < range.from) blocks.push(range)
    else blocks[blocks.length - 1] = { from: last.from, to: Math.max(last.to, range.to) }
  }
  return { table, files, blocks }
}

/** Replaces everything but printable ASCII, so that untrusted text cannot end the SQL comment that contains it. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?')
}
