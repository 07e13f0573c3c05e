import { ExportError } from '../core/model/errors.ts'
import type { LoadSource } from './open-source.ts'

/**
 * Replaces VERIFY_FAILED by LOAD_FAILED if the manifest has changed since it was read: a run then replaced the files
 * during the load.
 */
export async function explainFailure(
  thrown: unknown,
  source: Pick<LoadSource, 'hasChanged'>,
): Promise<unknown> {
  if (!(thrown instanceof ExportError) || thrown.code !== 'VERIFY_FAILED') return thrown
  if (!(await source.hasChanged())) return thrown
  return new ExportError('LOAD_FAILED', `the output changed during the load (${thrown.message})`, {
    cause: thrown,
    fix: 'Run the same command again: it loads the current files.',
  })
}

export function noTablesError({ manifest }: LoadSource): ExportError {
  return new ExportError('USAGE', 'the manifest lists none of these tables', {
    fix: `Choose from the tables of the manifest with --tables: ${Object.keys(manifest.tables).join(', ') || 'it has none'}.`,
  })
}
