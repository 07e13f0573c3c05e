import { ExportError } from '../core/model/errors.ts'
import type { Manifest } from '../core/model/manifest.ts'
import { requireManifest } from '../read/dataset.ts'
import { decimalsLines, missingRowsWarning, rejectLines, unknownLines } from '../terminal/format.ts'
import { openLog } from './options/log.ts'

/** Warns on stderr about rows that an export lacks, rejected records and refused wallets, and about decimals that contradict each other. */
export async function warnIfRowsMissing(output: string): Promise<Manifest> {
  const manifest = await requireManifest(output)
  const rejects = rejectLines(manifest).map((line) => `${line}: they are missing from the export`)
  openLog({}).warn([...missingRowsWarning(manifest), ...rejects, ...decimalsLines(manifest)])
  return manifest
}

/** Like `warnIfRowsMissing`, and also warns about transactions whose status or fee is unknown. */
export async function warnIfIncomplete(output: string): Promise<Manifest> {
  const manifest = await warnIfRowsMissing(output)
  openLog({}).warn(unknownLines(manifest))
  return manifest
}

/** Whether an export lacks rows, or has amounts that may be wrong because its rows disagree on decimals. */
export const isDoubtful = ({ rejects, coverage, decimalsConflict = 0 }: Manifest): boolean =>
  rejects > 0 ||
  decimalsConflict > 0 ||
  coverage.some(({ error, gaps = [] }) => error !== undefined || gaps.length > 0)

/** @throws RECORDS_REJECTED with `strict`, if one of the exports is doubtful: the warnings above say why */
export function throwIfDoubtful(
  manifests: readonly Manifest[],
  { strict = false }: { strict?: boolean | undefined },
): void {
  if (!strict || !manifests.some(isDoubtful)) return
  throw new ExportError('RECORDS_REJECTED', 'rows are missing from the export, or amounts may be wrong', {
    fix: 'The lines above say what and why. Without --strict, the exit code is 0.',
  })
}
