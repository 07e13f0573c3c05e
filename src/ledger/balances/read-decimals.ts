import { assetBalanceKey } from '../../core/model/asset.ts'
import type { OpenExport } from '../../read/open-export.ts'

/** Reads the decimals of each asset from its newest ledger row that has them; null if none has. */
export async function readDecimals({
  eachFile,
  database,
}: OpenExport): Promise<ReadonlyMap<string, number | null>> {
  await database.run(
    'CREATE OR REPLACE TABLE places (type VARCHAR, address VARCHAR, id VARCHAR, decimals INTEGER, block HUGEINT)',
  )
  await eachFile(
    'ledger',
    (source) =>
      'INSERT INTO places SELECT asset_type, asset_address, token_id, arg_max(asset_decimals::INTEGER, block_number::HUGEINT), ' +
      `max(block_number::HUGEINT) FILTER (WHERE asset_decimals IS NOT NULL) FROM ${source} GROUP BY ALL`,
  )
  const found = await database.all(
    'SELECT type, address, id, arg_max(decimals, block) AS decimals FROM places GROUP BY type, address, id',
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
