import { join } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE } from '../core/model/manifest.ts'
import { readTextIfExists } from '../core/platform/disk.ts'

/** Whether an export has been replaced since `watchExport`: its manifest is another one, or is missing for now. */
export type ExportWatch = { isReplaced(): Promise<boolean> }

/** Remembers the manifest of an export before it is read. */
export async function watchExport(folder: string): Promise<ExportWatch> {
  const read = () => readTextIfExists(join(folder, MANIFEST_FILE)).catch(() => undefined)
  const text = await read()
  return { isReplaced: async () => (await read()) !== text }
}

/** Error for a command that read files of two versions of an export, which says nothing about either of them. */
export function exportReplacedError(folder: string): ExportError {
  return new ExportError(
    'OUTPUT_LOCKED',
    `another run replaced the export in ${folder} while it was being read`,
    { fix: 'Run the same command again after the other run has ended.' },
  )
}
