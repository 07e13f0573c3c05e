import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readTextIfAny } from '../core/disk.ts'
import { openDataFile } from '../core/duckdb/data-file.ts'
import { sourceSql, textColumns } from '../core/duckdb/source-sql.ts'
import { ExportError } from '../core/errors.ts'
import { MANIFEST_FILE, type Manifest } from '../core/manifest.ts'
import { TABLES, type TableName } from '../core/table/index.ts'
import { openFindings } from './findings.ts'
import { readManifest } from './read-manifest.ts'
import { openRows, type Rows } from './rows.ts'

export type OpenedExport = {
  manifest: Manifest
  /** SQL over the export, with scratch tables on disk; memory is bounded. */
  rows: Rows
  /**
   * Runs a statement for each file of a table, in order, with the SQL source of its rows. In CSV every cell is text. A
   * table that the export does not have gives none. Throws VERIFY_FAILED where a file cannot be read, and OUTPUT_LOCKED
   * where that is because another run has replaced the export meanwhile.
   */
  eachFile(table: TableName, statement: (source: string) => string): Promise<void>
  close(): Promise<void>
}

/**
 * Opens a finished export for reading; nothing in it changes. Throws USAGE where the folder holds none, and
 * VERIFY_FAILED where its manifest is damaged.
 */
export async function openExport(folder: string): Promise<OpenedExport> {
  const before = await readTextIfAny(join(folder, MANIFEST_FILE))
  const manifest = await requireManifest(folder)
  const rows = await openRows(folder)
  return {
    ...{ manifest, rows },
    eachFile: async (table, statement) => {
      for (const { path } of manifest.tables[table]?.files ?? []) {
        const file = await openDataFile(`${rows.folder}/${path}`, manifest.job.format, rows.scratch)
        const source = sourceSql(file, textColumns(tableOf(table).columns))
        try {
          await rows.run(statement(source))
        } catch (thrown) {
          if ((await readTextIfAny(join(folder, MANIFEST_FILE))) !== before) throw replaced(folder)
          throw unreadable(path, (thrown as Error).message.replaceAll(`${rows.folder}/`, '').slice(0, 300))
        } finally {
          await file.close()
        }
      }
    },
    close: () => rows.close(),
  }
}

async function requireManifest(folder: string): Promise<Manifest> {
  const entry = await stat(folder).catch(() => undefined)
  const fix = 'Name the output folder of a finished export.'
  if (!entry?.isDirectory()) throw new ExportError('USAGE', `there is no output folder ${folder}`, { fix })
  if ((await readTextIfAny(join(folder, MANIFEST_FILE))) === undefined)
    throw new ExportError('USAGE', `${folder} holds no finished export (no ${MANIFEST_FILE})`, { fix })
  const findings = openFindings()
  const manifest = await readManifest(folder, findings)
  if (manifest === undefined)
    throw new ExportError('VERIFY_FAILED', `${folder}: ${findings.told().join('\n')}`)
  return manifest
}

function tableOf(name: TableName) {
  const table = TABLES.find((one) => one.name === name)
  if (table === undefined) throw new ExportError('BUG', `there is no table ${name}`)
  return table
}

function unreadable(path: string, why: string): ExportError {
  return new ExportError('VERIFY_FAILED', `${path}: cannot be read: ${why}`)
}

function replaced(folder: string): ExportError {
  const fix = 'Run the same command again, when the other run has ended.'
  return new ExportError('OUTPUT_LOCKED', `another run replaced the export in ${folder} as it was read`, {
    fix,
  })
}
