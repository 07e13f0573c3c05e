import { readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { EXPORT_ENTRIES, MANIFEST_FILE, RECONCILIATION_FILE, REJECTS_FILE } from '../core/model/manifest.ts'
import { readTextIfExists } from '../core/platform/disk.ts'
import type { Store } from '../storage/store.ts'

/** Files of an export that a run or `reconcile` replaces or removes, whatever they contain. */
const REPLACED_FILES: ReadonlySet<string> = new Set([MANIFEST_FILE, REJECTS_FILE, RECONCILIATION_FILE])

/**
 * Checks a folder without an export before a run writes to it. Returns a notice if it contains other files; none about
 * hidden files. Throws USAGE if an export would replace one of them, or if the folder is part of another export.
 */
export async function checkForeignFiles(output: string): Promise<string | undefined> {
  await requireOutsideExports(output)
  const entries = await readdir(output, { withFileTypes: true }).catch(() => [])
  const isExport = entries.some(({ name }) => EXPORT_ENTRIES.has(name) && !REPLACED_FILES.has(name))
  if (isExport || (await hasOwnManifest(output))) return undefined
  const replaced = entries.find((entry) => REPLACED_FILES.has(entry.name) && entry.isFile())
  if (replaced !== undefined) throw wouldBeReplaced(join(output, replaced.name))
  const [other] = entries.flatMap(({ name }) => (name.startsWith('.') ? [] : [name])).sort()
  if (other === undefined) return undefined
  return `${output} contains other files, such as ${other}: they are left as they are`
}

/** Throws USAGE for a folder inside a folder of an export, whose readers would take its files for those of the export. */
async function requireOutsideExports(output: string): Promise<void> {
  for (let folder = resolve(output); folder !== dirname(folder); folder = dirname(folder)) {
    const parent = dirname(folder)
    // A manifest that this user cannot read is of no export of theirs.
    const isExport = async () => hasOwnManifest(parent).catch(() => false)
    if (!EXPORT_ENTRIES.has(basename(folder)) || !(await isExport())) continue
    throw new ExportError('USAGE', `${output} is part of the export ${parent}`, {
      fix: 'Name another folder with --output (output in the job).',
    })
  }
}

/**
 * Throws USAGE if the manifest in a folder, or in the object store that it is a copy of, was not written by
 * walletlake: a run would replace it, with `--fresh` too.
 */
export async function requireOwnManifest({ folder, name }: Pick<Store, 'folder' | 'name'>): Promise<void> {
  const text = await readTextIfExists(join(folder, MANIFEST_FILE))
  if (text === undefined || text.trim() === '' || GENERATOR_FIELD.test(text)) return
  throw wouldBeReplaced(`${name}/${MANIFEST_FILE}`)
}

function wouldBeReplaced(file: string): ExportError {
  return new ExportError('USAGE', `${file} belongs to no export, and would be replaced`, {
    fix: 'Name another folder with --output (output in the job), or move this file away.',
  })
}

/** Also matches the beginning of a damaged manifest. */
const GENERATOR_FIELD = /"generator":\s*"walletlake /

/** Whether there is a manifest of any version of walletlake. */
async function hasOwnManifest(output: string): Promise<boolean> {
  return GENERATOR_FIELD.test((await readTextIfExists(join(output, MANIFEST_FILE))) ?? '')
}
