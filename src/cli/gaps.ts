import type { Manifest } from '../core/manifest.ts'
import { requireManifest } from '../read/open-export.ts'
import { rejectLines, unknownLines } from '../report/words.ts'
import { openLog } from './log.ts'

/** Says on stderr what an export does not hold although it was read: rejected records. Gives the manifest. */
export async function warnOfRejects(output: string): Promise<Manifest> {
  const manifest = await requireManifest(output)
  for (const line of rejectLines(manifest)) openLog({}).warn(`${line}: the export lacks them`)
  return manifest
}

/** The same, and transactions whose status or fee is unknown. */
export async function warnOfGaps(output: string): Promise<Manifest> {
  const manifest = await warnOfRejects(output)
  for (const line of unknownLines(manifest)) openLog({}).warn(line)
  return manifest
}
