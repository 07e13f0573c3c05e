import type { OpenedExport } from '../read/open-export.ts'
import { digitsApart, firstDigits } from './first-digits.ts'

/** What the names of a contract's tokens are made of. */
type ContractName = {
  /** Of its first row; null where that has none. */
  symbol: string | null
  /** Tells it from all other contracts of the export. */
  digits: string
}

/** By address. */
export type ContractNames = ReadonlyMap<string, ContractName>

/**
 * Reads what each contract of the ledger is called, in the order in which they come up: all of the export counts, whatever part
 * of it is converted, and what is added to its end changes no name. A token that is renamed keeps its first symbol, so that
 * it stays one asset; a contract that begins with the digits of an earlier one has a number behind them.
 */
export async function readContractNames({ eachFile, rows }: OpenedExport): Promise<ContractNames> {
  const place = 'block_number::HUGEINT * 4294967296 + transaction_index::HUGEINT'
  await rows.run('CREATE OR REPLACE TABLE contracts (address VARCHAR, symbol VARCHAR, place HUGEINT)')
  await eachFile(
    'ledger',
    (source) =>
      `INSERT INTO contracts SELECT asset_address, arg_min(coalesce(asset_symbol, ''), ${place}), min(${place}) ` +
      `FROM ${source} WHERE asset_address IS NOT NULL GROUP BY asset_address`,
  )
  const found = await rows.all(
    'SELECT address, arg_min(symbol, place) AS symbol FROM contracts GROUP BY address ORDER BY min(place), address',
  )
  const named = found as { address: string; symbol: string }[]
  const digits = digitsApart(named.map(({ address }) => address))
  return new Map(
    named.map(({ address, symbol }) => [
      address,
      { symbol: symbol || null, digits: digits.get(address) ?? firstDigits(address) },
    ]),
  )
}
