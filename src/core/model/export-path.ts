import { join } from 'node:path'
import { TABLE_NAMES } from '../table/index.ts'
import { ExportError } from './errors.ts'
import { CHANGES_FOLDER, RUNS_FOLDER } from './manifest.ts'

/** Characters of a path and of a segment that every file system and object store takes. */
const MAX_PATH_LENGTH = 1024
const MAX_SEGMENT_LENGTH = 255

const SEGMENT = /^[A-Za-z0-9._=-]+$/

/**
 * Whether a path from a manifest, an object key or a queue message stays below the folder that it is joined to: it is relative,
 * made of ASCII letters, digits and `._=-`, and has no empty, `.` or `..` segment.
 */
export function isSafePath(path: string): boolean {
  if (path.length > MAX_PATH_LENGTH) return false
  return path
    .split('/')
    .every(
      (segment) =>
        segment.length <= MAX_SEGMENT_LENGTH && SEGMENT.test(segment) && segment !== '.' && segment !== '..',
    )
}

/** Whether a manifest may list a path: a plain one in a table's folder, `changes/` or `raw/`. */
export function isExportPath(path: string): boolean {
  const [folder = '', ...rest] = path.split('/')
  return rest.length > 0 && EXPORT_FOLDERS.has(folder) && isSafePath(path)
}

const EXPORT_FOLDERS: ReadonlySet<string> = new Set([...TABLE_NAMES, CHANGES_FOLDER, 'raw'])

/** Whether a path names the report of a run: `runs/<run id>.json`. */
export const isRunReportPath = (path: string): boolean => RUN_REPORT.test(path) && isSafePath(path)

const RUN_REPORT = new RegExp(`^${RUNS_FOLDER}/\\d{8}T\\d{6}Z-[\\w-]+\\.json$`)

/** The place of a plain path below a folder. Throws VERIFY_FAILED for a path that could lead out of it. */
export function resolveInside(folder: string, path: string): string {
  if (isSafePath(path)) return join(folder, path)
  throw new ExportError(
    'VERIFY_FAILED',
    `${JSON.stringify(path.slice(0, 120))} is not a path inside an export`,
    {
      fix: 'Use a copy from a source that you trust.',
    },
  )
}
