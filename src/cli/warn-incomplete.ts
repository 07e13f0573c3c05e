import type { Manifest } from '../core/model/manifest.ts'
import { requireManifest } from '../read/open-export.ts'
import { decimalsLines, missingRowsWarning, rejectLines, unknownLines } from '../terminal/format.ts'
import { openLog } from './options/log.ts'

/** Warns on stderr about rows that an export lacks, rejected records and refused wallets, and about decimals that contradict each other. */
export async function warnIfRowsMissing(output: string): Promise<Manifest> {
  const manifest = await requireManifest(output)
  for (const line of missingRowsWarning(manifest)) openLog({}).warn(line)
  for (const line of rejectLines(manifest)) openLog({}).warn(`${line}: they are missing from the export`)
  for (const line of decimalsLines(manifest)) openLog({}).warn(line)
  return manifest
}

/** Like `warnIfRowsMissing`, and also warns about transactions whose status or fee is unknown. */
export async function warnIfIncomplete(output: string): Promise<Manifest> {
  const manifest = await warnIfRowsMissing(output)
  for (const line of unknownLines(manifest)) openLog({}).warn(line)
  return manifest
}
