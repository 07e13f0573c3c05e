import { exactFiatValue, FIAT_DECIMALS } from '../ledger/prices/fiat-value.ts'
import type { Prices } from '../ledger/prices/prices.ts'
import type { OpenExport } from '../read/open-export.ts'
import type { NumberRules } from './format-amount.ts'
import type { Asset } from './movement.ts'
import { type Contracts, contractKey } from './names/contracts.ts'

/** Why a program cannot hold an asset, whatever the amount; undefined where it can. */
export type RefusalReasonOf = (asset: Asset) => string | undefined

type ExportFacts = { opened: OpenExport; contracts: Contracts; prices: Prices | undefined }

/**
 * Refuses assets whose sums, or what these are worth, may have more digits than the program's numbers. All of the export
 * counts, so that each year's file has the same assets. Reads the whole ledger where the rules have such a number, and nothing
 * where they do not.
 */
export async function findPrecisionRefusals(
  { name, numbers }: { name: string; numbers: NumberRules },
  { opened, contracts, prices }: ExportFacts,
): Promise<RefusalReasonOf> {
  const { maxSumDigits, maxWholeDigits } = numbers
  if (maxSumDigits === undefined && maxWholeDigits === undefined) return () => undefined
  const reasons = new Map<string, string>()
  for (const totals of await readAssetTotals(opened)) {
    const key = contractKey(totals.asset)
    const decimals = contracts.get(key)?.decimals ?? totals.asset.decimals ?? 0
    if (exceedsSumDigits(totals, decimals, numbers))
      reasons.set(key, `more than ${maxSumDigits} digits, which ${name} rounds`)
    else if (exceedsWholeDigits({ totals, decimals, prices }, numbers))
      reasons.set(key, `more than ${maxWholeDigits} digits before the point, on which ${name} fails`)
  }
  return (asset) => reasons.get(contractKey(asset))
}

/** What came in and what went out of an asset, in its smallest unit; of a collection all tokens together. */
type AssetTotals = {
  asset: Pick<Asset, 'type' | 'address' | 'decimals'>
  received: bigint
  sent: bigint
  /** Zeros that all amounts end with. */
  zeros: number
}

async function readAssetTotals({ eachFile, database }: OpenExport): Promise<AssetTotals[]> {
  await database.run(
    'CREATE OR REPLACE TABLE digits (type VARCHAR, address VARCHAR, decimals INTEGER, came BIGNUM, gone BIGNUM, zeros BIGINT)',
  )
  await eachFile(
    'ledger',
    (source) =>
      `INSERT INTO digits SELECT asset_type, asset_address, min(asset_decimals::INTEGER), ` +
      `sum(value::BIGNUM) FILTER (WHERE value NOT LIKE '-%'), sum(ltrim(value, '-')::BIGNUM) FILTER (WHERE value LIKE '-%'), ` +
      `min(length(value) - length(rtrim(value, '0'))) FROM ${source} GROUP BY ALL`,
  )
  const found = await database.all(
    'SELECT type, address, min(decimals)::INTEGER AS decimals, sum(came)::VARCHAR AS came, sum(gone)::VARCHAR AS gone, ' +
      'min(zeros)::INTEGER AS zeros FROM digits GROUP BY ALL',
  )
  return found.map(({ type, address, decimals, came: received, gone: sent, zeros }) => ({
    asset: {
      type: type as Asset['type'],
      address: address as string | null,
      decimals: decimals === null ? null : Number(decimals),
    },
    ...{
      received: BigInt((received as string | null) ?? 0),
      sent: BigInt((sent as string | null) ?? 0),
      zeros: Number(zeros),
    },
  }))
}

/** Whether amounts, added up in any way, may have more digits from the first that is not zero. */
function exceedsSumDigits(
  { received, sent, zeros }: AssetTotals,
  decimals: number,
  { maxSumDigits = Number.POSITIVE_INFINITY, maxDecimals = 255 }: NumberRules,
): boolean {
  // What is cut off beyond the decimals leaves zeros.
  const unusedDigits = Math.max(zeros, decimals - maxDecimals)
  return String(received + sent).length - unusedDigits > maxSumDigits
}

type PricedTotals = { totals: AssetTotals; decimals: number; prices: Prices | undefined }

/** Whether what came in, what went out, a price, or what is worth one at it, may have more digits before the point. */
function exceedsWholeDigits(
  { totals, decimals, prices }: PricedTotals,
  { maxWholeDigits }: NumberRules,
): boolean {
  if (maxWholeDigits === undefined) return false
  const unit = 10n ** BigInt(Math.max(decimals, 0))
  const bound = 10n ** BigInt(maxWholeDigits)
  const quotes = prices?.all({ type: totals.asset.type, address: totals.asset.address }) ?? []
  return [totals.received, totals.sent].some(
    (largest) =>
      largest >= unit * bound ||
      quotes.some(({ price }) =>
        [largest, unit].some(
          (value) => exactFiatValue(value, decimals, price) >= bound * 10n ** BigInt(FIAT_DECIMALS),
        ),
      ),
  )
}
