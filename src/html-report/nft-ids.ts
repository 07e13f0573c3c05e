import type { Dataset } from '../read/dataset.ts'
import { aggregateKey } from './ledger-aggregates.ts'
import { MAX_TABLE_ROWS } from './tables.ts'

/** Number of distinct token ids of a collection that were minted to the wallets, and burned by them. */
type NftIds = { minted: number; burned: number }

/** Units of an ERC-1155 token id that all wallets together received and sent; none is negative. */
type TokenUnits = {
  address: string
  id: string
  minted: bigint
  received: bigint
  sent: bigint
  burned: bigint
}

export type NftStats = {
  /** By `aggregateKey`. */
  collections: ReadonlyMap<string, NftIds>
  /** The ERC-1155 ids with the most movements, as many as a table of the page has. */
  ids: readonly TokenUnits[]
  /** Number of ERC-1155 ids. */
  idCount: number
}

export const NO_NFTS: NftStats = { collections: new Map(), ids: [], idCount: 0 }

/** Counts token ids and their units in the scratch database, which spills to disk. */
export async function readNftIds({ eachFile, run, all }: Dataset): Promise<NftStats> {
  await run(
    'CREATE TABLE nft_ids (type VARCHAR, address VARCHAR, id VARCHAR, entry VARCHAR, direction VARCHAR, n BIGINT, units BIGNUM)',
  )
  await eachFile(
    'ledger',
    (source) =>
      'INSERT INTO nft_ids SELECT asset_type, asset_address, token_id, entry_type, direction, count(*), ' +
      `sum(value::VARCHAR::BIGNUM) FROM ${source} WHERE asset_type IN ('erc721', 'erc1155') GROUP BY ALL`,
  )
  const collections = await all(
    `SELECT type, address, count(DISTINCT id) FILTER (entry = 'mint')::DOUBLE AS minted, ` +
      `count(DISTINCT id) FILTER (entry = 'burn')::DOUBLE AS burned FROM nft_ids GROUP BY type, address`,
  )
  const ids = await all(
    `SELECT address, id, ${UNITS_SQL}, count(*) OVER ()::DOUBLE AS ids FROM nft_ids WHERE type = 'erc1155' ` +
      `GROUP BY address, id ORDER BY sum(n) DESC, address, length(id), id LIMIT ${MAX_TABLE_ROWS}`,
  )
  return {
    collections: new Map(
      collections.map(({ type, address, minted, burned }) => [
        aggregateKey(type as string, address as string | null),
        { minted: Number(minted), burned: Number(burned) },
      ]),
    ),
    ids: ids.map(toTokenUnits),
    idCount: Number(ids[0]?.ids ?? 0),
  }
}

const UNITS_SQL = Object.entries({
  minted: "entry = 'mint'",
  received: "entry <> 'mint' AND direction = 'in'",
  sent: "entry <> 'burn' AND direction = 'out'",
  burned: "entry = 'burn'",
})
  .map(([name, filter]) => `(sum(units) FILTER (${filter}))::VARCHAR AS ${name}`)
  .join(', ')

function toTokenUnits({ address, id, minted, received, sent, burned }: Record<string, unknown>): TokenUnits {
  const unitsOf = (sum: unknown) => {
    const units = BigInt((sum as string | null) ?? 0)
    return units < 0n ? -units : units
  }
  return {
    address: address as string,
    id: id as string,
    minted: unitsOf(minted),
    received: unitsOf(received),
    sent: unitsOf(sent),
    burned: unitsOf(burned),
  }
}
