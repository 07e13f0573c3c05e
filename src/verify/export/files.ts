import { createReadStream } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { createInterface } from 'node:readline'
import { type Manifest, type ManifestFile, REJECTS_FILE } from '../../core/model/manifest.ts'
import { hashFile } from '../../core/platform/disk.ts'
import type { TableName } from '../../core/table/index.ts'
import { extensionPattern } from '../../formats/index.ts'
import { type Findings, formatValue } from '../../read/findings.ts'

/**
 * Checks the path, existence, size and hash of a listed file.
 *
 * @returns false if the rows cannot be read: wrong path, or not a file
 */
export async function checkFile(
  folder: string,
  listed: { table: TableName; manifest: Manifest; file: ManifestFile },
  findings: Findings,
): Promise<boolean> {
  const { file } = listed
  const expected = expectedPath(listed.table, listed.manifest, file)
  if (!findings.expect(expected.test(file.path), () => pathProblem(listed.table, file))) return false
  const entry = await lstat(join(folder, file.path)).catch(() => undefined)
  if (!findings.expect(entry?.isFile() === true, () => `${file.path}: expected a file, found none`))
    return false
  findings.expectValue(file.path, 'bytes', { expected: file.bytes, found: entry?.size })
  const hash = await hashFile(join(folder, file.path))
  findings.expectValue(file.path, 'sha256', { expected: file.sha256, found: hash })
  return true
}

/**
 * Lists files in the folders of listed tables that the manifest does not list. They are reported, but are not errors.
 */
export async function unlistedFiles(folder: string, manifest: Manifest): Promise<string[]> {
  // An Iceberg table also has metadata, and files of earlier snapshots.
  if (manifest.job.table === 'iceberg') return []
  const listed = new Set(
    Object.values(manifest.tables).flatMap((table) => table.files.map((file) => file.path)),
  )
  const names = await Promise.all(
    Object.keys(manifest.tables).map(async (table) => {
      const options = { recursive: true, withFileTypes: true } as const
      const entries = await readdir(join(folder, table), options).catch(() => [])
      const files = entries.filter((entry) => !entry.isDirectory())
      return files.map(({ parentPath, name }) =>
        relative(folder, join(parentPath, name)).split(sep).join('/'),
      )
    }),
  )
  return names
    .flat()
    .filter((path) => !listed.has(path))
    .sort()
}

/**
 * Matches the path that table, partition, block range and format require. The file number is arbitrary, and so is the
 * compression, because a job may change its compression between runs.
 */
function expectedPath(table: TableName, { job }: Manifest, file: ManifestFile): RegExp {
  const { fromBlock, toBlock } = file
  const extension = extensionPattern([job.format])
  const folder = partitionPattern(job, file)
  const hash = job.table === 'iceberg' ? '(?:-[\\da-f]{8})?' : ''
  return new RegExp(
    `^${table}/${folder}${table}-${block(fromBlock)}-${block(toBlock)}-\\d{4,}${hash}\\.${extension}$`,
  )
}

/** A file without rows is in no partition. */
function partitionPattern({ partitionBy }: Manifest['job'], { rows }: ManifestFile): string {
  if (partitionBy === undefined || rows === 0) return ''
  if (partitionBy === 'day') return 'day=\\d{4}-\\d{2}-\\d{2}/'
  return partitionBy === 'month' ? 'month=\\d{4}-\\d{2}/' : 'blocks=\\d{12,}-\\d{12,}/'
}

function block(number: number): string {
  return String(number).padStart(12, '0')
}

function pathProblem(table: TableName, { path, fromBlock, toBlock }: ManifestFile): string {
  const expected = `${table}/${table}-${block(fromBlock)}-${block(toBlock)}-<n> with the extension of the format`
  return `${table}: path: expected ${expected}, found ${formatValue(path)}`
}

/**
 * Checks that rejects.ndjson has the number of lines that the manifest records, each a JSON object. The file may be
 * absent if that number is 0.
 */
export async function checkRejects(folder: string, expected: number, findings: Findings): Promise<void> {
  const path = join(folder, REJECTS_FILE)
  const entry = await lstat(path).catch(() => undefined)
  if (entry === undefined) {
    findings.expectValue('rejects.ndjson', 'lines', { expected, found: 'no file', holds: expected === 0 })
    return
  }
  if (!findings.expect(entry.isFile(), () => 'rejects.ndjson: expected a file, found something else')) return
  const counts = { lines: 0, firstInvalid: 0 }
  for await (const line of createInterface({
    input: createReadStream(path),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    counts.lines += 1
    if (counts.firstInvalid === 0 && !isObject(line)) counts.firstInvalid = counts.lines
  }
  findings.expectValue('rejects.ndjson', 'lines', { expected, found: counts.lines })
  findings.expect(
    counts.firstInvalid === 0,
    () => `rejects.ndjson line ${counts.firstInvalid}: expected a JSON object`,
  )
}

function isObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
