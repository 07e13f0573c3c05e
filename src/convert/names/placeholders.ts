import { isNft } from '../../core/asset.ts'
import { csvLine } from '../../core/csv-text.ts'
import { readTextIfAny } from '../../core/disk.ts'
import { placeToWrite, writeNamedFile } from '../../core/named-file.ts'
import { readRecords, recordFault } from '../../read/csv-records.ts'
import { type Asset, assetKey } from '../movement.ts'
import { tickerName } from './asset-name.ts'

/** Numbered names for assets that a program does not know, `NULL1` or `NFT1`, kept in a file so that they keep their meaning. */
export type Placeholders = {
  nameOf(asset: Asset): string
  /** Writes the file, where there is a new name. Throws OUTPUT_FAILED. */
  save(): Promise<void>
}

const COLUMNS = ['placeholder', 'asset_type', 'asset_address', 'token_id', 'name'] as const

/** Opens the file that keeps them, if it is there. Throws USAGE where it holds something else, or is no file. */
export async function openPlaceholders(file: string): Promise<Placeholders> {
  const place = await placeToWrite(file, 'Name a file with --map.')
  const lines: string[] = []
  const names = new Map<string, string>()
  const counts = { NULL: 0, NFT: 0 }
  if ((await readTextIfAny(place)) !== undefined) {
    await readRecords(file, COLUMNS, ({ line, cells }) => {
      const { placeholder = '', asset_type = '', asset_address = '', token_id = '', name = '' } = cells
      const [, kind, number] = /^(NULL|NFT)([1-9]\d{0,6})$/.exec(placeholder) ?? []
      if (kind === undefined)
        throw recordFault(
          { file, line },
          { found: `placeholder ${placeholder}`, expected: 'NULL1, NFT1 and so on' },
        )
      counts[kind as 'NULL' | 'NFT'] = Math.max(counts[kind as 'NULL' | 'NFT'], Number(number))
      names.set(`${asset_type}|${asset_address}|${token_id || null}`, placeholder)
      lines.push(csvLine([placeholder, asset_type, asset_address, token_id, name]))
    })
  }
  let isChanged = false
  return {
    nameOf: (asset) => {
      if (asset.address === null) return tickerName(asset)
      const key = assetKey(asset)
      const known = names.get(key)
      if (known !== undefined) return known
      const kind = isNft(asset) ? 'NFT' : 'NULL'
      counts[kind] += 1
      const placeholder = `${kind}${counts[kind]}`
      names.set(key, placeholder)
      lines.push(csvLine([placeholder, asset.type, asset.address, asset.tokenId ?? '', tickerName(asset)]))
      isChanged = true
      return placeholder
    },
    save: async () => {
      if (isChanged) await writeNamedFile(place, csvLine(COLUMNS) + lines.join(''))
    },
  }
}
