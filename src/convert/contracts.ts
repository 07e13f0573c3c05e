import type { OpenedExport } from '../read/open-export.ts'
import { digitsApart } from './first-digits.ts'
import type { Asset } from './movement.ts'

/** What all of the export tells of a contract. */
type Contract = {
  /** Of its first row; null where that has none. */
  symbol: string | null
  /** Tells it from all other contracts of the export. */
  digits: string
  /** Of its first row of an ERC-20 token that has any; null where none has. */
  decimals: number | null
}

/** By address. */
export type Contracts = ReadonlyMap<string, Contract>

/**
 * Reads what the ledger tells of each contract, in the order in which they come up: all of the export counts, whatever part
 * of it is converted, and what is added to its end changes no name. A token that is renamed keeps its first symbol, so that
 * it stays one asset; a contract that begins with the digits of an earlier one has a number behind them.
 */
export async function readContracts({ eachFile, rows }: OpenedExport): Promise<Contracts> {
  const place = 'block_number::HUGEINT * 4294967296 + transaction_index::HUGEINT'
  const decimals = `CASE asset_type WHEN 'erc20' THEN asset_decimals::INTEGER END`
  await rows.run(
    'CREATE OR REPLACE TABLE contracts (address VARCHAR, symbol VARCHAR, decimals INTEGER, place HUGEINT)',
  )
  await eachFile(
    'ledger',
    (source) =>
      `INSERT INTO contracts SELECT asset_address, arg_min(coalesce(asset_symbol, ''), ${place}), ` +
      `arg_min(${decimals}, ${place}), min(${place}) ` +
      `FROM ${source} WHERE asset_address IS NOT NULL GROUP BY asset_address`,
  )
  const found = await rows.all(
    'SELECT address, arg_min(symbol, place) AS symbol, arg_min(decimals, place) AS decimals ' +
      'FROM contracts GROUP BY address ORDER BY min(place), address',
  )
  const contracts = found as { address: string; symbol: string; decimals: number | null }[]
  const digits = digitsApart(contracts.map(({ address }) => address))
  return new Map(
    contracts.map(({ address, symbol, decimals }) => [
      address,
      { symbol: symbol || null, digits: digits.get(address) as string, decimals },
    ]),
  )
}

/** An asset of a row, with what its contract is called, and with its decimals where the row alone does not have them. */
export function ofContract(asset: Asset, contracts: Contracts): Asset {
  const contract = asset.address === null ? undefined : contracts.get(asset.address)
  if (contract === undefined) return asset
  const { symbol, digits, decimals } = contract
  const { type, address, tokenId } = asset
  // Field by field: a spread for each row takes a seventh of a conversion's time.
  return { type, address, symbol, digits, decimals: asset.decimals ?? decimals, tokenId }
}
