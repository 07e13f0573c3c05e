import { exactFiatValue, FIAT_DECIMALS } from '../ledger/prices/fiat-value.ts'
import type { Prices } from '../ledger/prices/prices.ts'
import type { OpenExport } from '../read/open-export.ts'
import type { NumberRules } from './format-amount.ts'
import type { Asset, Movement } from './movement.ts'
import { type Contracts, contractKey } from './names/contracts.ts'

/** Returns the reason why a program cannot hold any amount of an asset; undefined if it can. */
export type RefusalReasonOf = (asset: Asset) => string | undefined

type ExportInputs = {
  opened: OpenExport
  contracts: Contracts
  opening: readonly Movement[]
  prices: Prices | undefined
}

/**
 * Finds the assets whose sums, or the values of these sums, may have more digits than the program supports. The whole
 * export is considered, not only the converted period, so the files of all years contain the same assets. Reads the
 * ledger only if the rules have such a limit.
 */
export async function findPrecisionRefusals(
  { name, numbers }: { name: string; numbers: NumberRules },
  { opened, contracts, opening, prices }: ExportInputs,
): Promise<RefusalReasonOf> {
  const { maxSumDigits, maxWholeDigits } = numbers
  if (maxSumDigits === undefined && maxWholeDigits === undefined) return () => undefined
  const reasons = new Map<string, string>()
  for (const totals of addOpening(await readAssetTotals(opened), opening)) {
    const key = contractKey(totals.asset)
    const decimals = contracts.get(key)?.decimals ?? totals.asset.decimals ?? 0
    if (exceedsSumDigits(totals, decimals, numbers))
      reasons.set(key, `more than ${maxSumDigits} digits, which ${name} rounds`)
    else if (exceedsWholeDigits({ totals, decimals, prices }, numbers))
      reasons.set(key, `more than ${maxWholeDigits} digits before the point, on which ${name} fails`)
  }
  return (asset) => reasons.get(contractKey(asset))
}

/** Totals of an asset over the whole export, in its smallest unit. The tokens of an NFT collection are added together. */
type AssetTotals = {
  asset: Pick<Asset, 'type' | 'address' | 'decimals'>
  received: bigint
  sent: bigint
  /** Number of trailing zeros that all amounts have in common. */
  zeros: number
}

async function readAssetTotals({ eachFile, database }: OpenExport): Promise<AssetTotals[]> {
  await database.run(
    'CREATE OR REPLACE TABLE digits (type VARCHAR, address VARCHAR, decimals INTEGER, received BIGNUM, sent BIGNUM, zeros BIGINT)',
  )
  await eachFile(
    'ledger',
    (source) =>
      `INSERT INTO digits SELECT asset_type, asset_address, min(asset_decimals::INTEGER), ` +
      `sum(value::BIGNUM) FILTER (WHERE value NOT LIKE '-%'), sum(ltrim(value, '-')::BIGNUM) FILTER (WHERE value LIKE '-%'), ` +
      `min(length(value) - length(rtrim(value, '0'))) FROM ${source} GROUP BY ALL`,
  )
  const found = await database.all(
    'SELECT type, address, min(decimals)::INTEGER AS decimals, sum(received)::VARCHAR AS received, sum(sent)::VARCHAR AS sent, ' +
      'min(zeros)::INTEGER AS zeros FROM digits GROUP BY ALL',
  )
  return found.map(({ type, address, decimals, received, sent, zeros }) => ({
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

function addOpening(ofLedger: readonly AssetTotals[], opening: readonly Movement[]): AssetTotals[] {
  const totals = new Map(ofLedger.map((one) => [contractKey(one.asset), { ...one }]))
  for (const { asset, isOut, value } of opening) {
    const none = { asset, received: 0n, sent: 0n, zeros: Number.POSITIVE_INFINITY }
    const total = totals.get(contractKey(asset)) ?? none
    total[isOut ? 'sent' : 'received'] += value
    total.zeros = Math.min(total.zeros, /0*$/.exec(String(value))?.[0].length ?? 0)
    totals.set(contractKey(asset), total)
  }
  return [...totals.values()]
}

/** Whether a sum of any of the amounts may have more significant digits than the limit. */
function exceedsSumDigits(
  { received, sent, zeros }: AssetTotals,
  decimals: number,
  { maxSumDigits = Number.POSITIVE_INFINITY, maxDecimals = 255 }: NumberRules,
): boolean {
  // Digits beyond `maxDecimals` are cut off, so they are zeros too.
  const unusedDigits = Math.max(zeros, decimals - maxDecimals)
  return String(received + sent).length - unusedDigits > maxSumDigits
}

type PricedTotals = { totals: AssetTotals; decimals: number; prices: Prices | undefined }

/** Whether a total, its value at one of the prices, or one of the prices has more digits before the point than the limit. */
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
