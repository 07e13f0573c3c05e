import type { ExportError } from '../core/model/errors.ts'
import { mismatchError } from '../read/check-files.ts'
import { engineError } from './engine-error.ts'
import type { LocalFile } from './target.ts'

/**
 * Converts DuckDB's error for a file: VERIFY_FAILED if the content is invalid, otherwise LOAD_FAILED (such as lack of
 * memory or disk space).
 */
export function readError({ name, readable }: LocalFile, cause: unknown): ExportError {
  const text = cause instanceof Error ? cause.message : String(cause)
  const message = readable.paths.reduce((text, path) => text.replaceAll(path, name), text)
  if (!CONTENT_ERROR.test(message)) return engineError(name, new Error(message))
  return mismatchError(name, `it cannot be read: ${message.split('\n', 1)[0]?.slice(0, 300)}`)
}

/** DuckDB error classes that are caused by a file's content. */
const CONTENT_ERROR =
  /^(?:Conversion|Invalid Input|Constraint|Binder|Out of Range|Parser|Serialization) Error/
