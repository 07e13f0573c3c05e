import { join } from 'node:path'
import { TABLE_NAMES } from '../table/index.ts'
import { ExportError } from './errors.ts'
import { CHANGES_FOLDER, RUNS_FOLDER } from './manifest.ts'

/** Lengths of a path and of a segment that all file systems and object stores support. */
const MAX_PATH_LENGTH = 1024
const MAX_SEGMENT_LENGTH = 255

const SEGMENT = /^[A-Za-z0-9._=-]+$/

/**
 * Whether a path from a manifest, an object key or a queue message stays inside the folder that it is joined
 * to: it must be relative, consist of ASCII letters, digits and `._=-`, and have no empty, `.` or `..`
 * segment.
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

/** Whether a manifest may list a path: a safe path inside a table's folder, `changes/` or `raw/`. */
export function isExportPath(path: string): boolean {
  const [folder = '', ...rest] = path.split('/')
  return rest.length > 0 && EXPORT_FOLDERS.has(folder) && isSafePath(path)
}

const EXPORT_FOLDERS: ReadonlySet<string> = new Set([...TABLE_NAMES, CHANGES_FOLDER, 'raw'])

/** Whether a path is that of a run report, `runs/<run id>.json`. */
export const isRunReportPath = (path: string): boolean => RUN_REPORT.test(path) && isSafePath(path)

const RUN_REPORT = new RegExp(`^${RUNS_FOLDER}/\\d{8}T\\d{6}Z-[\\w-]+\\.json$`)

/** Joins a folder and a safe path. Throws VERIFY_FAILED for a path that could point outside the folder. */
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
