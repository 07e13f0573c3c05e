import { lstat, open, rm } from 'node:fs/promises'
import { csvLine } from '../core/platform/csv-line.ts'
import { diskError } from '../core/platform/disk.ts'
import type { Omitted } from './csv/import-row-writer.ts'
import { siblingPath } from './options.ts'
import type { TextFiles } from './text-files.ts'

const OMITTED_COLUMNS = [
  'reason',
  'chain_id',
  'block_timestamp',
  'transaction_hash',
  'entry_id',
  'wallet_address',
  'wallet_label',
  'asset_type',
  'asset_address',
  'asset_symbol',
  'token_id',
  'value',
]

const HEADER = csvLine(OMITTED_COLUMNS)

/** Counts omitted movements by reason. With `out`, also lists them in `<out>.omitted.csv`. */
export function openOmissions(out: string | undefined, files: TextFiles) {
  const omitted: Record<string, number> = {}
  const path = out === undefined ? undefined : siblingPath(out, 'omitted.csv')
  return {
    add: ({ movement, value, reason }: Omitted) => {
      omitted[reason] = (omitted[reason] ?? 0) + 1
      if (path === undefined) return
      const { chain, time, transaction, entry, wallet, label, asset } = movement
      const assetCells = [asset.type, asset.address, asset.symbol, asset.tokenId, String(value)]
      const row = [reason, chain, time, transaction, entry, wallet, label, ...assetCells]
      files.add(path, csvLine(row), HEADER)
    },
    /** Removes the list of an earlier conversion if this one succeeded and omitted nothing. Throws OUTPUT_FAILED. */
    removeStaleList: async () => {
      if (path === undefined || Object.keys(omitted).length > 0 || !(await isOmissionsFile(path))) return
      await rm(path, { force: true }).catch((cause: unknown) => {
        throw diskError(`cannot remove ${path}, the list of an earlier conversion`, cause)
      })
    },
    summary: () => ({ omitted, omittedFile: Object.keys(omitted).length > 0 ? path : undefined }),
  }
}

/** Whether the path is a list written by a conversion: a regular file, not a link, with the header of such lists. */
async function isOmissionsFile(path: string): Promise<boolean> {
  const entry = await lstat(path).catch(() => undefined)
  if (!entry?.isFile()) return false
  const file = await open(path).catch(() => undefined)
  try {
    const expected = Buffer.from(HEADER)
    const found = await file?.read(Buffer.alloc(expected.length), 0, expected.length, 0)
    return found?.buffer.equals(expected) ?? false
  } finally {
    await file?.close()
  }
}
