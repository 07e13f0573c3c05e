import type { OpenedExport } from '../read/open-export.ts'
import { assetKey } from './movement.ts'

/**
 * Assets whose amounts, added up in any way, may have more digits than a program's numbers: by key, those of a collection
 * together. All of the export counts, so that each year's journal has the same assets.
 */
export async function assetsBeyond(
  digits: number,
  { eachFile, rows }: OpenedExport,
): Promise<ReadonlySet<string>> {
  await rows.run('CREATE TABLE digits (type VARCHAR, address VARCHAR, sum BIGNUM, zeros BIGINT)')
  await eachFile(
    'ledger',
    (source) =>
      `INSERT INTO digits SELECT asset_type, asset_address, sum(ltrim(value, '-')::BIGNUM), ` +
      `min(length(value) - length(rtrim(value, '0'))) FROM ${source} GROUP BY ALL`,
  )
  const found = await rows.all(
    'SELECT type, address, sum(sum)::VARCHAR AS sum, min(zeros)::INTEGER AS zeros FROM digits GROUP BY ALL',
  )
  const isBeyond = ({ sum, zeros }: (typeof found)[number]) => String(sum).length - Number(zeros) > digits
  return new Set(
    found.filter(isBeyond).map(({ type, address }) =>
      assetKey({
        type: type as 'native',
        address: address as string | null,
        ...{ symbol: null, decimals: null, tokenId: null },
      }),
    ),
  )
}
