import { ADDRESS } from '../core/model/address.ts'
import { readRecords, recordError } from '../read/csv-records.ts'

/** Reads CSV with `address` and `label`: none where no file is given. Throws USAGE for what cannot be read. */
export async function readLabelsFile(file: string | undefined): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  if (file === undefined) return names
  await readRecords(file, ['address', 'label'], ({ line, cells: { address = '', label = '' } }) => {
    if (!ADDRESS.test(address))
      throw recordError({ file, line }, { found: `address ${address}`, expected: '0x and 40 hex digits' })
    if (label !== '') names.set(address.toLowerCase(), label)
  })
  return names
}
