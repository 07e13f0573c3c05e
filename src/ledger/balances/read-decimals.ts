import { assetBalanceKey } from '../../core/model/asset.ts'
import type { OpenExport } from '../../read/open-export.ts'

/** Reads the largest decimals in the ledger rows of each asset; null if none has decimals. */
export async function readDecimals({
  eachFile,
  database,
}: OpenExport): Promise<ReadonlyMap<string, number | null>> {
  await database.run(
    'CREATE OR REPLACE TABLE places (type VARCHAR, address VARCHAR, id VARCHAR, decimals INTEGER)',
  )
  const decimals = 'asset_decimals::INTEGER'
  await eachFile(
    'ledger',
    (source) =>
      'INSERT INTO places SELECT asset_type, asset_address, token_id, ' +
      `max(${decimals}) FILTER (WHERE ${decimals} BETWEEN 0 AND 255) FROM ${source} GROUP BY ALL`,
  )
  const found = await database.all(
    'SELECT type, address, id, max(decimals) AS decimals FROM places GROUP BY type, address, id',
  )
  return new Map(
    found.map(({ type, address, id, decimals }) => [
      assetBalanceKey('', {
        type: type as string,
        address: address as string | null,
        tokenId: id as string | null,
      }),
      decimals === null ? null : Number(decimals),
    ]),
  )
}
