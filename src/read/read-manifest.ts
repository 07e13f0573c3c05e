import { join } from 'node:path'
import { diskFix, PERMISSION_FIX } from '../core/model/errors.ts'
import { MANIFEST_FILE, type Manifest } from '../core/model/manifest.ts'
import { manifestProblems } from '../core/model/manifest-schema.ts'
import { diskError, readManifestText } from '../core/platform/disk.ts'
import { invalidJsonReason, parseJson } from '../core/platform/json-text.ts'
import { findSpecialEntry } from '../core/platform/special-entries.ts'
import { type Findings, formatValue } from './findings.ts'

/**
 * Reads the manifest and validates its structure; undefined if it is not valid, so that no further checks are
 * possible. Throws OUTPUT_FAILED if permission is denied, because that is no damage.
 */
export async function readManifest(folder: string, findings: Findings): Promise<Manifest | undefined> {
  const special = await findSpecialEntry(folder)
  if (!findings.expect(special === undefined, () => `${special}, which no export contains`)) return
  const path = join(folder, MANIFEST_FILE)
  const content = await readManifestText(path).catch((error) => failureCode(path, error))
  if (!findings.expect(typeof content === 'string', () => `manifest.json: cannot be read (${content})`))
    return
  const text = content as string
  const parsed = parseJson(text)
  if (!findings.expect(parsed !== undefined, () => `manifest.json: it is ${invalidJsonReason(text)}`)) return
  // A manifest of another program lacks everything; naming each field would not help.
  const isOurs = typeof parsed === 'object' && parsed !== null && 'manifestVersion' in parsed
  if (!findings.expect(isOurs, () => "manifest.json: not walletlake's manifest")) return
  const problems = manifestProblems(parsed)
  findings.expect(problems.length === 0, () => 'manifest.json: not a valid manifest of version 1')
  for (const { path, expected, found } of problems) {
    findings.addProblem(
      `manifest.json: ${path || 'document'}: expected ${expected}, found ${formatValue(found)}`,
    )
  }
  if (problems.length > 0) return undefined
  const manifest = parsed as Manifest
  const isComplete = manifest.job.kind === 'blocks' || manifest.coverage.length > 0
  if (!findings.expect(isComplete, () => 'manifest.json: coverage: expected at least one wallet, found none'))
    return
  return manifest
}

function failureCode(path: string, error: NodeJS.ErrnoException): { code: string; toString(): string } {
  if (diskFix(error.code) === PERMISSION_FIX) throw diskError(`cannot read ${path}`, error)
  const code = error.code ?? error.message
  return { code, toString: () => code }
}
