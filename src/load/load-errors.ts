import { ExportError } from '../core/model/errors.ts'
import type { LoadSource } from './open-source.ts'

export function duplicateRowError(path: string): ExportError {
  const what = `${path}: the export has a row twice, in this file and in one that is loaded already`
  return new ExportError('VERIFY_FAILED', what, {
    fix: 'Export again with run --fresh, then load again; walletlake verify names all such rows.',
  })
}

/** A file that does not fit its manifest may be a sign that a run has just replaced both. */
export async function explainFailure(
  thrown: unknown,
  source: Pick<LoadSource, 'hasChanged'>,
): Promise<unknown> {
  if (!(thrown instanceof ExportError) || thrown.code !== 'VERIFY_FAILED') return thrown
  if (!(await source.hasChanged())) return thrown
  return new ExportError('LOAD_FAILED', `the output was written anew during the load (${thrown.message})`, {
    cause: thrown,
    fix: 'Run the same command again: it loads what the output holds now.',
  })
}
