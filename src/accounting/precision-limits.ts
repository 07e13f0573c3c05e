import { isNft } from '../core/model/asset.ts'
import { smallest } from '../core/platform/extremes.ts'
import { exactFiatValue, FIAT_DECIMALS, type Quote } from '../ledger/prices/prices.ts'
import type { Dataset } from '../read/dataset.ts'
import type { NumberRules } from './format-amount.ts'
import type { Asset, Movement } from './movement.ts'
import { type Contracts, withContract } from './names/contracts.ts'
import { collectionName, tickerName } from './names/names.ts'
import type { ConversionPrices } from './text-writer.ts'

/** Returns the reason why a program cannot hold any amount of an asset; undefined if it can. */
export type RefusalReasonOf = (asset: Asset) => string | undefined

type ExportInputs = {
  sources: readonly { opened: Dataset; chain: string; contracts: Contracts }[]
  opening: readonly Movement[]
  prices: ConversionPrices | undefined
}

/**
 * Finds the assets whose sums, or the values of these sums, may have more digits than the program supports. The whole
 * exports are considered, not only the converted period, so the files of all years contain the same assets. Assets of
 * the same name are added together, because the program does so. Reads ledgers only if the rules have such a limit.
 */
export async function findPrecisionRefusals(
  { name, numbers }: { name: string; numbers: NumberRules },
  inputs: ExportInputs,
): Promise<RefusalReasonOf> {
  const { maxSumDigits, maxWholeDigits } = numbers
  if (maxSumDigits === undefined && maxWholeDigits === undefined) return () => undefined
  const reasons = new Map<string, string>()
  for (const [key, totals] of await sumByName(inputs)) {
    if (exceedsSumDigits(totals, numbers))
      reasons.set(key, `more than ${maxSumDigits} digits, which ${name} rounds`)
    else if (exceedsWholeDigits(totals, numbers))
      reasons.set(key, `more than ${maxWholeDigits} digits before the point, on which ${name} fails`)
  }
  return (asset) => reasons.get(nameOf(asset))
}

/** The name of an asset. The tokens of an NFT collection are added together. */
const nameOf = (asset: Asset) => (isNft(asset) ? collectionName(asset) : tickerName(asset))

/** Totals of an asset over whole exports, in its smallest unit. */
type AssetTotals = {
  asset: Asset
  received: bigint
  sent: bigint
  /** Number of trailing zeros that all amounts have in common. */
  zeros: number
  /** All of the user's prices of the asset. */
  quotes: readonly Quote[]
}

async function readAssetTotals({ collect, all, textSql }: Dataset): Promise<Omit<AssetTotals, 'quotes'>[]> {
  const coin = `CASE asset_type WHEN 'native' THEN ${textSql('asset_symbol')} END`
  await collect(
    'digits (type VARCHAR, address VARCHAR, coin VARCHAR, decimals INTEGER, received BIGNUM, sent BIGNUM, zeros BIGINT)',
    'ledger',
    (source) =>
      `SELECT asset_type, asset_address, min(${coin}), min(asset_decimals::INTEGER), ` +
      `sum(value::BIGNUM) FILTER (WHERE value NOT LIKE '-%'), sum(ltrim(value, '-')::BIGNUM) FILTER (WHERE value LIKE '-%'), ` +
      `min(length(value) - length(rtrim(value, '0'))) FROM ${source} GROUP BY ALL`,
  )
  const rows = await all(
    'SELECT type, address, min(coin) AS symbol, min(decimals)::INTEGER AS decimals, sum(received)::VARCHAR AS received, ' +
      'sum(sent)::VARCHAR AS sent, min(zeros)::INTEGER AS zeros FROM digits GROUP BY ALL',
  )
  return rows.map(({ type, address, symbol, decimals, received, sent, zeros }) => ({
    asset: {
      type: type as Asset['type'],
      address: address as string | null,
      symbol: symbol as string | null,
      decimals: decimals === null ? null : Number(decimals),
      tokenId: null,
    },
    received: BigInt((received as string | null) ?? 0),
    sent: BigInt((sent as string | null) ?? 0),
    zeros: Number(zeros),
  }))
}

async function sumByName({
  sources,
  opening,
  prices,
}: ExportInputs): Promise<ReadonlyMap<string, AssetTotals>> {
  const sums = new Map<string, AssetTotals>()
  const add = (chain: string, unpriced: Omit<AssetTotals, 'quotes'>) => {
    const totals = { ...unpriced, quotes: prices?.ofChain(chain).all(unpriced.asset) ?? [] }
    const earlier = sums.get(nameOf(totals.asset))
    sums.set(nameOf(totals.asset), earlier === undefined ? totals : sumOf(earlier, totals))
  }
  for (const { opened, chain, contracts } of sources)
    for (const totals of await readAssetTotals(opened))
      add(chain, { ...totals, asset: withContract(totals.asset, contracts) })
  for (const { chain, asset, isOut, value } of opening) {
    const zeros = /0*$/.exec(String(value))?.[0].length ?? 0
    add(chain, { asset, received: isOut ? 0n : value, sent: isOut ? value : 0n, zeros })
  }
  return sums
}

/** Adds totals, in the smaller of their units. */
function sumOf(a: AssetTotals, b: AssetTotals): AssetTotals {
  const decimals = Math.max(decimalsOf(a), decimalsOf(b))
  const sum = (side: 'received' | 'sent') =>
    [a, b].reduce((total, part) => total + part[side] * 10n ** BigInt(decimals - decimalsOf(part)), 0n)
  return {
    asset: { ...a.asset, decimals },
    received: sum('received'),
    sent: sum('sent'),
    zeros: smallest([a, b].map((part) => part.zeros + decimals - decimalsOf(part))),
    quotes: [...a.quotes, ...b.quotes],
  }
}

const decimalsOf = ({ asset }: AssetTotals) => asset.decimals ?? 0

/** Whether a sum of any of the amounts may have more significant digits than the limit. */
function exceedsSumDigits(
  totals: AssetTotals,
  { maxSumDigits = Number.POSITIVE_INFINITY, maxDecimals = 255 }: NumberRules,
): boolean {
  const { received, sent, zeros } = totals
  // Digits beyond `maxDecimals` are cut off, so they are zeros too.
  const unusedDigits = Math.max(zeros, decimalsOf(totals) - maxDecimals)
  return String(received + sent).length - unusedDigits > maxSumDigits
}

/** Whether a total, its value at one of the prices, or one of the prices has more digits before the point than the limit. */
function exceedsWholeDigits(totals: AssetTotals, { maxWholeDigits }: NumberRules): boolean {
  if (maxWholeDigits === undefined) return false
  const decimals = decimalsOf(totals)
  const unit = 10n ** BigInt(Math.max(decimals, 0))
  const bound = 10n ** BigInt(maxWholeDigits)
  return [totals.received, totals.sent].some(
    (largest) =>
      largest >= unit * bound ||
      totals.quotes.some(({ price }) =>
        [largest, unit].some(
          (value) => exactFiatValue(value, decimals, price) >= bound * 10n ** BigInt(FIAT_DECIMALS),
        ),
      ),
  )
}
