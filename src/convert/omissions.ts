import { csvLine } from '../core/csv-text.ts'
import type { Omitted } from './line-writer.ts'
import { besideOut } from './options.ts'
import type { TextFiles } from './text-files.ts'

const OMITTED_COLUMNS = [
  ...['reason', 'block_timestamp', 'transaction_hash', 'entry_id', 'wallet_address', 'wallet_label'],
  ...['asset_type', 'asset_address', 'asset_symbol', 'token_id', 'value'],
]

const HEAD = csvLine(OMITTED_COLUMNS)

/** Counts what was left out, and lists it beside the file. */
export function openOmissions(out: string | undefined, files: TextFiles) {
  const omitted: Record<string, number> = {}
  const path = out === undefined ? undefined : besideOut(out, 'omitted.csv')
  return {
    note: ({ movement, value, reason }: Omitted) => {
      omitted[reason] = (omitted[reason] ?? 0) + 1
      if (path === undefined) return
      const { time, transaction, entry, wallet, label, asset } = movement
      const of = [asset.type, asset.address, asset.symbol, asset.tokenId, String(value)]
      files.add(path, csvLine([reason, time, transaction, entry, wallet, label, ...of]), HEAD)
    },
    told: () => ({ omitted, omittedFile: Object.keys(omitted).length > 0 ? path : undefined }),
  }
}
