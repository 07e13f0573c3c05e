import { chainIdOf } from '../../core/model/chains.ts'
import type { Dataset } from '../../read/dataset.ts'
import type { FungibleAsset } from './priced-asset.ts'
import type { PricedChain } from './prices.ts'

/** The chain of an export, with the assets of its ledger. */
export const pricedChainOf = (opened: Dataset): PricedChain => ({
  chain: chainIdOf(opened.manifest.job.chain),
  assetsOf: () => readFungibleAssets(opened),
})

/**
 * Reads the native coin and the ERC-20 tokens of an export's ledger, sorted by address, symbol and decimals. A contract
 * whose rows have several symbols or decimals has one entry for each.
 */
export async function readFungibleAssets({ eachFile, run, all, textSql }: Dataset): Promise<FungibleAsset[]> {
  const columns = `asset_address, ${textSql('asset_symbol')}, asset_decimals`
  await run('CREATE OR REPLACE TABLE assets (address VARCHAR, symbol VARCHAR, decimals INTEGER)')
  await eachFile(
    'ledger',
    (source) =>
      `INSERT INTO assets SELECT DISTINCT ${columns} FROM ${source} WHERE asset_type IN ('native', 'erc20')`,
  )
  const found = await all('SELECT DISTINCT * FROM assets ORDER BY address NULLS FIRST, symbol, decimals')
  return found.map(({ address, symbol, decimals }) => ({
    type: address === null ? 'native' : 'erc20',
    address: address as string | null,
    symbol: symbol as string | null,
    decimals: decimals as number | null,
    tokenId: null,
  }))
}
