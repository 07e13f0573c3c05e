import { entryRulesOf } from '../core/model/entry-types.ts'
import { DAY_MS } from '../core/model/utc.ts'
import type { TextRows } from '../core/table/index.ts'
import { Buckets, type Series } from './buckets.ts'
import { DayEnds } from './day-ends.ts'

/** Kinds of movement, from the wallet's point of view. */
export const KINDS = ['received', 'sent', 'own', 'minted', 'burned', 'fee'] as const
export type Kind = (typeof KINDS)[number]
export type Counts = Record<Kind, number>

/** Columns of the ledger that `AggregatedRow` has. */
export const AGGREGATED_COLUMNS = [
  'block_timestamp',
  'transaction_hash',
  'wallet_address',
  'wallet_label',
  'entry_type',
  'direction',
  'counterparty_address',
  'counterparty_is_own',
  'asset_type',
  'asset_address',
  'asset_symbol',
  'asset_decimals',
  'value',
  'token_id',
] as const

/** A ledger row as the sums of a report read it. */
export type AggregatedRow = Pick<TextRows['ledger'], (typeof AGGREGATED_COLUMNS)[number]>

const COIN_SUMS = ['coinIn', 'coinInOwn', 'coinOut', 'coinOutOwn', 'fees'] as const
/**
 * Amounts of the native coin in its smallest unit. `coinInOwn` and `coinOutOwn` are the parts that moved between own
 * wallets. Fees are not part of `coinOut`.
 */
export type CoinSums = Record<(typeof COIN_SUMS)[number], bigint>

export type WalletAggregates = CoinSums & {
  address: string
  label: string | null
  transactions: number
  movements: number
  assets: Set<string>
  /** Times of the first and last movement, as written in the tables. */
  first: string
  last: string
  /** The address that the first incoming movement of the native coin from another address names. */
  funder: string | null
  series: Series<number>
  lastTransaction: string
}

export type AssetAggregates = {
  /** null for the native coin. All NFTs of one contract and type are one asset. */
  address: string | null
  type: string
  symbol: string | null
  decimals: number | null
  movements: number
  in: bigint
  out: bigint
}

/**
 * A wallet's balance of an asset at the end of each bucket in which it changed, without the opening balance. `value` is the
 * latest one.
 */
export type BalanceSeries = { wallet: string; asset: string; series: Series<bigint>; value: bigint }

type TrackedBalance = { wallet: string; asset: string; bucket: number; day: string; value: bigint }

/** Aggregates the rows of a ledger, which must be passed in chain order, into the figures of a report. */
export class LedgerAggregates {
  readonly buckets = new Buckets()
  readonly timeline: Series<Counts> = this.buckets.series(addKindCounts)
  readonly totals: Counts = zeroCounts()
  readonly wallets = new Map<string, WalletAggregates>()
  readonly assets = new Map<string, AssetAggregates>()
  readonly balances = new Map<string, BalanceSeries>()
  /** The same balances at the ends of days, under the same keys. */
  readonly dayEnds = new DayEnds()
  /** Number of transfers between two own wallets, each counted once, by `"<from> <to>"`. */
  readonly ownTransfers = new Map<string, number>()
  readonly days = { active: 0, streak: 0, longest: 0, last: '' }
  transactions = 0
  movements = 0
  first = ''
  last = ''
  #transaction = ''
  readonly trackedAssets: ReadonlySet<string>

  /** @param trackedAssets Assets whose balances are tracked over time, as values of `aggregateKey` */
  constructor(trackedAssets: ReadonlySet<string>) {
    this.trackedAssets = trackedAssets
  }

  /** Amounts of the native coin of all wallets. */
  get coins(): CoinSums {
    const sums = zeroCoins()
    for (const wallet of this.wallets.values()) for (const name of COIN_SUMS) sums[name] += wallet[name]
    return sums
  }

  add(row: AggregatedRow): void {
    const { block_timestamp: time, wallet_address: address, counterparty_address: counterparty } = row
    const value = BigInt(row.value)
    const bucket = this.buckets.bucketOf(Date.parse(time))
    const isOwn = row.counterparty_is_own === 'true'
    const kind = kindOf(row.entry_type, row.direction === 'out', isOwn)
    this.#count(kind, bucket)
    this.#recordTime(time, row.transaction_hash)
    const wallet = this.#walletOf(address, row.wallet_label, time)
    countMovement(wallet, { hash: row.transaction_hash, time, bucket })
    const asset = this.#assetOf(row)
    const key = aggregateKey(row.asset_type, asset.address)
    wallet.assets.add(key)
    if (asset.address === null) countCoinMovement(wallet, { kind, value, counterparty })
    countAsset(asset, value)
    if (kind === 'own' && value < 0n && counterparty !== null && counterparty !== address)
      this.#countOwnTransfer(address, counterparty)
    if (this.trackedAssets.has(key))
      this.#trackBalance({ wallet: address, asset: key, bucket, day: time.slice(0, 10), value })
  }

  #count(kind: Kind, bucket: number): void {
    const counts = this.timeline.get(bucket) ?? zeroCounts()
    counts[kind] += 1
    this.timeline.set(bucket, counts)
    this.totals[kind] += 1
    this.movements += 1
  }

  #recordTime(time: string, hash: string): void {
    if (this.first === '') this.first = time
    this.last = time
    if (hash !== this.#transaction) this.transactions += 1
    this.#transaction = hash
    const day = time.slice(0, 10)
    const { days } = this
    if (day === days.last) return
    const isNext = Date.parse(day) - Date.parse(days.last || day) === DAY_MS
    days.streak = isNext ? days.streak + 1 : 1
    days.longest = Math.max(days.longest, days.streak)
    days.active += 1
    days.last = day
  }

  #walletOf(address: string, label: string | null, time: string): WalletAggregates {
    const existing = this.wallets.get(address)
    if (existing !== undefined) return existing
    const wallet = newWallet({ address, label, time, series: this.buckets.series<number>((a, b) => a + b) })
    this.wallets.set(address, wallet)
    return wallet
  }

  #assetOf(row: AggregatedRow): AssetAggregates {
    const { asset_type: type, asset_address: address } = row
    const key = aggregateKey(type, address)
    let asset = this.assets.get(key)
    if (asset === undefined) {
      asset = { address, type, symbol: null, decimals: null, movements: 0, in: 0n, out: 0n }
      this.assets.set(key, asset)
    }
    asset.symbol = row.asset_symbol ?? asset.symbol
    if (row.asset_decimals !== null) asset.decimals = Number(row.asset_decimals)
    return asset
  }

  #countOwnTransfer(from: string, to: string): void {
    const key = `${from} ${to}`
    this.ownTransfers.set(key, (this.ownTransfers.get(key) ?? 0) + 1)
  }

  #trackBalance({ wallet, asset, bucket, day, value }: TrackedBalance): void {
    const key = `${wallet} ${asset}`
    let balance = this.balances.get(key)
    if (balance === undefined) {
      balance = { wallet, asset, series: this.buckets.series<bigint>((_, later) => later), value: 0n }
      this.balances.set(key, balance)
    }
    balance.value += value
    balance.series.set(bucket, balance.value)
    this.dayEnds.set(key, day, balance.value)
  }
}

/**
 * Key of an asset: `native`, the address of an ERC-20 token, or the type and address of an NFT collection, because one
 * contract may have tokens of several types.
 */
export const aggregateKey = (type: string, address: string | null): string =>
  address === null ? type : type === 'erc20' ? address : `${type} ${address}`

/** Sorts assets by number of movements, most first. */
export const byMovements = (a: AssetAggregates, b: AssetAggregates): number =>
  b.movements - a.movements || (addressAndType(a) < addressAndType(b) ? -1 : 1)

const addressAndType = ({ address, type }: AssetAggregates) => `${address ?? ''} ${type}`

export const zeroCounts = (): Counts => ({ received: 0, sent: 0, own: 0, minted: 0, burned: 0, fee: 0 })

const zeroCoins = (): CoinSums => ({ coinIn: 0n, coinInOwn: 0n, coinOut: 0n, coinOutOwn: 0n, fees: 0n })

function addKindCounts(previous: Counts, later: Counts): Counts {
  return Object.fromEntries(KINDS.map((kind) => [kind, previous[kind] + later[kind]])) as Counts
}

const KIND_OF: Readonly<Partial<Record<string, Kind>>> = {
  fee: 'fee',
  mint: 'minted',
  burn: 'burned',
  own: 'own',
}

function kindOf(type: string, isOut: boolean, isOwn: boolean): Kind {
  const { countsAs } = entryRulesOf(type)
  const kind = KIND_OF[countsAs]
  if (kind !== undefined) return kind
  if (isOwn && countsAs !== 'wrap') return 'own'
  return isOut ? 'sent' : 'received'
}

function newWallet(wallet: { address: string; label: string | null; time: string; series: Series<number> }) {
  const { address, label, time, series } = wallet
  return {
    address,
    label,
    transactions: 0,
    movements: 0,
    ...zeroCoins(),
    assets: new Set<string>(),
    first: time,
    last: time,
    funder: null,
    series,
    lastTransaction: '',
  }
}

function countMovement(
  wallet: WalletAggregates,
  movement: { hash: string; time: string; bucket: number },
): void {
  wallet.movements += 1
  wallet.last = movement.time
  wallet.series.set(movement.bucket, (wallet.series.get(movement.bucket) ?? 0) + 1)
  if (wallet.lastTransaction !== movement.hash) wallet.transactions += 1
  wallet.lastTransaction = movement.hash
}

type CoinMovement = { kind: Kind; value: bigint; counterparty: string | null }

function countCoinMovement(wallet: WalletAggregates, { kind, value, counterparty }: CoinMovement): void {
  if (kind === 'fee') wallet.fees -= value
  else if (value < 0n) {
    wallet.coinOut -= value
    if (kind === 'own') wallet.coinOutOwn -= value
  } else {
    wallet.coinIn += value
    if (kind === 'own') wallet.coinInOwn += value
    if (counterparty !== wallet.address) wallet.funder ??= counterparty
  }
}

function countAsset(asset: AssetAggregates, value: bigint): void {
  asset.movements += 1
  if (value < 0n) asset.out -= value
  else asset.in += value
}
