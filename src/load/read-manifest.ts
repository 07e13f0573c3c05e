import { ExportError } from '../core/errors.ts'
import { show } from '../core/item-key.ts'
import type { Manifest, ManifestFile } from '../core/manifest.ts'
import { TABLES, type Table } from '../core/table/index.ts'

/**
 * A manifest's text as what loading needs of it: version, job, known tables with today's columns, and files whose paths
 * stay inside the output. Throws VERIFY_FAILED; `where` names the manifest.
 */
export function readManifest(text: string, where: string): Manifest {
  const manifest = parse(text) as Partial<Manifest> | undefined
  const problem = manifest === undefined ? 'it is not JSON' : problemOf(manifest as Manifest)
  if (problem === undefined) return manifest as Manifest
  throw new ExportError('VERIFY_FAILED', `${where}: ${problem}`, {
    fix: 'Load an output of this version of walletlake, whole and unchanged, or export it again.',
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function problemOf({ manifestVersion, schemaVersion, job, tables }: Manifest): string | undefined {
  if (manifestVersion !== 1 || schemaVersion !== 1) return 'it is not a manifest of version 1'
  const texts = [job?.name, job?.chain, job?.addressesSha256]
  if (texts.some((value) => typeof value !== 'string' || value === '') || !isCount(job.startBlock)) {
    return 'its job has no name, chain, startBlock or addressesSha256'
  }
  if (job.format !== 'csv' && job.format !== 'parquet') return 'its format is neither csv nor parquet'
  if (typeof tables !== 'object' || tables === null) return 'it has no tables'
  for (const [name, listed] of Object.entries(tables)) {
    const table = TABLES.find((known) => known.name === name)
    if (table === undefined) return `it has an unknown table, ${name}`
    const problem = columnProblem(table, listed) ?? fileProblem(table, listed?.files)
    if (problem !== undefined) return `${name}: ${problem}`
  }
  return undefined
}

function columnProblem(table: Table, listed: Manifest['tables'][Table['name']]): string | undefined {
  const wanted = table.columns.map(({ name, type, nullable }) => `${name} ${type}${nullable ? '?' : ''}`)
  const found = (listed?.columns ?? []).map(
    ({ name, type, nullable }) => `${word(name)} ${word(type)}${nullable ? '?' : ''}`,
  )
  const at = wanted.findIndex((column, index) => column !== found[index])
  if (at >= 0) return `expected the column ${wanted[at]}, found ${found[at] ?? 'none'}`
  return found.length > wanted.length ? `it has an unknown column, ${found[wanted.length]}` : undefined
}

function fileProblem(table: Table, files: readonly ManifestFile[] | undefined): string | undefined {
  if (!Array.isArray(files)) return 'it lists no files'
  const bad = (files as readonly ManifestFile[]).find((file) => !isFile(table, file))
  return bad === undefined ? undefined : `a file of it is not described as it has to be: ${word(bad?.path)}`
}

/** What should be text, as a message says it. */
const word = (value: unknown) => (typeof value === 'string' ? value : show(value))

/** No path leads out of the table's folder. */
function isFile({ name }: Table, file: ManifestFile): boolean {
  const path = new RegExp(
    `^${name}/(?:(?:day|month|blocks)=[0-9-]+/)?[A-Za-z0-9][A-Za-z0-9._-]*\\.(?:csv|csv\\.gz|parquet)$`,
  )
  if (typeof file?.path !== 'string' || !path.test(file.path)) return false
  if (!/^[0-9a-f]{64}$/.test(file.sha256)) return false
  const { rows, bytes, fromBlock, toBlock } = file
  return [rows, bytes, fromBlock, toBlock].every(isCount) && fromBlock <= toBlock
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
