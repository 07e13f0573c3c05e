import { ADDRESS } from '../core/model/address.ts'
import { readRecords, recordError } from '../read/csv-records.ts'

/**
 * Reads a CSV file with the columns `address` and `label`; an empty map without a file.
 *
 * @returns labels by lowercase address
 * @throws `USAGE` if the file cannot be read or an address in it is malformed
 */
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
