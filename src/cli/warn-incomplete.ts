import type { Manifest } from '../core/model/manifest.ts'
import { requireManifest } from '../read/open-export.ts'
import { refusedLines, rejectLines, unknownLines } from '../terminal/format.ts'
import { openLog } from './options/log.ts'

/** Reports on stderr what an export lacks: rejected records, and rows of wallets that the service refused. */
export async function warnOfMissing(output: string): Promise<Manifest> {
  const manifest = await requireManifest(output)
  for (const line of refusedLines(manifest)) openLog({}).warn(line)
  for (const line of rejectLines(manifest)) openLog({}).warn(`${line}: the export lacks them`)
  return manifest
}

/** The same, and transactions whose status or fee is unknown. */
export async function warnOfGaps(output: string): Promise<Manifest> {
  const manifest = await warnOfMissing(output)
  for (const line of unknownLines(manifest)) openLog({}).warn(line)
  return manifest
}
