import type { OpenExport } from '../read/open-export.ts'
import { aggregateKey } from './ledger-aggregates.ts'

/** Number of distinct token ids of a collection that were minted to the wallets, and burned by them. */
export type NftIds = { minted: number; burned: number }

/** Counts token ids by collection (`aggregateKey`) in the scratch database, which spills to disk. */
export async function readNftIds({ eachFile, database }: OpenExport): Promise<ReadonlyMap<string, NftIds>> {
  await database.run('CREATE TABLE nft_ids (type VARCHAR, address VARCHAR, id VARCHAR, entry VARCHAR)')
  await eachFile(
    'ledger',
    (source) =>
      `INSERT INTO nft_ids SELECT DISTINCT asset_type, asset_address, token_id, entry_type FROM ${source} ` +
      `WHERE asset_type IN ('erc721', 'erc1155') AND entry_type IN ('mint', 'burn')`,
  )
  const found = await database.all(
    `SELECT type, address, count(DISTINCT id) FILTER (entry = 'mint')::DOUBLE AS minted, ` +
      `count(DISTINCT id) FILTER (entry = 'burn')::DOUBLE AS burned FROM nft_ids GROUP BY type, address`,
  )
  return new Map(
    found.map(({ type, address, minted, burned }) => [
      aggregateKey(type as string, address as string | null),
      { minted: Number(minted), burned: Number(burned) },
    ]),
  )
}
