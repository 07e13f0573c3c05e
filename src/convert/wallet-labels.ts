import type { OpenedExport } from '../read/open-export.ts'

/** Labels of the wallets of an export's job by their address. */
export function labelsOf({ manifest }: OpenedExport): ReadonlyMap<string, string> {
  return new Map(
    manifest.coverage.flatMap(({ address, label }) => (label == null ? [] : [[address, label] as const])),
  )
}
