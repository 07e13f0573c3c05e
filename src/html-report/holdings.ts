import type { ConversionPrices } from '../accounting/text-writer.ts'
import { COIN_DECIMALS, isNft } from '../core/model/asset.ts'
import { chainOf } from '../core/model/chains.ts'
import type { Manifest } from '../core/model/manifest.ts'
import { isRebasing } from '../core/model/rebasing-tokens.ts'
import { wellKnownTokens } from '../core/model/well-known-tokens.ts'
import { EVENTS_MISMATCH } from '../ledger/balances/causes.ts'
import type { PricedAsset, Quote } from '../ledger/prices/prices.ts'
import type { StoredReconciliation } from '../read/read-reconciliation.ts'
import type { DailyBalances, DaySeries } from './worth.ts'
import { assetId, type Closing } from './year-sums.ts'

/** Why the sums of an asset are in no total. */
type Exclusion = 'suspicious' | 'rebasing' | 'unreliable' | 'different'

/** An asset, and what all wallets together hold of it at the end. */
export type Holding = {
  id: string
  chain: string
  type: string
  /** null for the native coin. */
  address: string | null
  symbol: string
  /** Whether the table of well-known tokens gives the symbol. */
  isKnown: boolean
  decimals: number | null
  amount: bigint
  /** What each wallet holds, by address. Of NFTs, the number of units of all ids. */
  wallets: Map<string, bigint>
  /** Of NFTs: units by token id. */
  tokens: Map<string, bigint>
  excluded: Exclusion | undefined
  /** The spam rules that it matches. */
  rules: readonly string[]
}

export type Holdings = {
  /** All assets, held or not, by `assetId`. */
  assets: ReadonlyMap<string, Holding>
  /** Coins and tokens that are counted in totals and have any price. */
  priced: readonly { id: string; decimals: number; quotes: readonly Quote[]; series: DaySeries }[]
}

/** Collects what exports held after their last rows. */
export class HoldingList {
  readonly #assets = new Map<string, Holding>()

  add(chain: string, { job }: Manifest, { balances, belowZero, flagged }: Closing): void {
    const coin = job.nativeSymbol ?? chainOf(chain)?.symbol ?? 'coin'
    const known = wellKnownTokens(chain)
    for (const { asset_type: type, asset_address: address, token_id: token, value, ...one } of balances) {
      const id = assetId(chain, type, address)
      const ticker = known.get(address ?? '')?.ticker
      const holding = this.#assets.get(id) ?? {
        id,
        chain,
        type,
        address,
        symbol: address === null ? coin : (ticker ?? one.asset_symbol ?? ''),
        isKnown: address === null || ticker !== undefined,
        decimals: address === null ? COIN_DECIMALS : isNft({ type }) ? 0 : one.asset_decimals,
        amount: 0n,
        wallets: new Map<string, bigint>(),
        tokens: new Map<string, bigint>(),
        excluded: isRebasing(chain, address) ? ('rebasing' as const) : undefined,
        rules: [],
      }
      this.#assets.set(id, holding)
      holding.amount += value
      holding.wallets.set(one.wallet_address, (holding.wallets.get(one.wallet_address) ?? 0n) + value)
      if (token !== null) holding.tokens.set(token, (holding.tokens.get(token) ?? 0n) + value)
    }
    this.#exclude(chain, { belowZero, flagged })
  }

  /** Rebasing tokens are no spam, whatever their sums. */
  #exclude(chain: string, { belowZero, flagged }: Pick<Closing, 'belowZero' | 'flagged'>): void {
    for (const { asset_type: type, asset_address: address, causes } of belowZero) {
      const holding = this.#assets.get(assetId(chain, type, address))
      if (holding !== undefined && causes.includes(EVENTS_MISMATCH)) holding.excluded ??= 'unreliable'
    }
    const rules = new Map(
      flagged.map(({ asset_address, flags }) => [asset_address, flags.map(({ rule }) => rule)]),
    )
    for (const holding of this.#assets.values()) {
      const matched = holding.chain === chain ? rules.get(holding.address ?? '') : undefined
      if (matched === undefined || holding.excluded === 'rebasing') continue
      holding.excluded = 'suspicious'
      holding.rules = matched
    }
  }

  /** Excludes the tokens whose balances differ from those that the service reports. */
  excludeDifferent(chain: string, verdict: StoredReconciliation | undefined): void {
    for (const { asset_type: type, asset_address: address } of verdict?.differences ?? []) {
      const holding = this.#assets.get(assetId(chain, type, address))
      if (holding !== undefined && address !== null && !isNft(holding)) holding.excluded ??= 'different'
    }
  }

  finish(prices: ConversionPrices | undefined, { series }: DailyBalances): Holdings {
    const counted = [...this.#assets.values()].filter(isCounted)
    const priced = counted.flatMap(({ id, chain, type, address, decimals }) => {
      const quotes = prices?.ofChain(chain).all({ type, address } as PricedAsset) ?? []
      const balances = series.get(id)
      return quotes.length === 0 || decimals === null || balances === undefined
        ? []
        : [{ id, decimals, quotes, series: balances }]
    })
    return { assets: this.#assets, priced }
  }
}

/** Whether an asset is a coin or a token whose amounts are part of totals. */
export const isCounted = (holding: Pick<Holding, 'type' | 'excluded'>): boolean =>
  holding.excluded === undefined && !isNft(holding)
