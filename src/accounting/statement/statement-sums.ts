import { assetBalanceKey, type Asset as BalanceAsset } from '../../core/model/asset.ts'
import type { Movement } from '../movement.ts'
import type { Flow, FlowName } from './flows.ts'

/** What moved by rows of one entry type: their number, and the amounts in and out in the asset's smallest unit. */
export type EntryTotal = { type: string; movements: number; in: bigint; out: bigint }

/** The sums of a wallet's asset, in its smallest unit. */
export type AssetSums = {
  opening: bigint
  flows: Record<FlowName, bigint>
  /** By entry type, sorted. */
  entries: EntryTotal[]
  /** Values of the flows in units of 10^-8 of the currency; null if a movement has no price. */
  values: Record<FlowName, bigint | null>
}

/** Returns the value of a flow in units of 10^-8 of the currency; null if it has no price. */
export type ValueOf = (flow: Flow, time: string) => bigint | null

/** Sums opening balances, flows and entry types by wallet and asset. Memory grows with their number. */
export class StatementSums {
  readonly #sums = new Map<string, AssetSums>()
  readonly #valueOf: ValueOf

  constructor(priceFlow: ValueOf) {
    this.#valueOf = priceFlow
  }

  /** Adds to the opening balance: a row before the period, or what a wallet held before the first row. */
  open(wallet: string, asset: BalanceAsset, value: bigint): void {
    this.#sumsOf(wallet, asset).opening += value
  }

  /** Counts a row of the period by its entry type. */
  count({ wallet, asset, type, isOut, value }: Movement): void {
    const { entries } = this.#sumsOf(wallet, asset)
    let entry = entries.find((one) => one.type === type)
    if (entry === undefined) {
      entry = { type, movements: 0, in: 0n, out: 0n }
      entries.push(entry)
      entries.sort((a, b) => (a.type < b.type ? -1 : 1))
    }
    entry.movements += 1
    entry[isOut ? 'out' : 'in'] += value
  }

  /** Adds a flow of the period. */
  add(wallet: string, flow: Flow, time: string): void {
    const { flows, values } = this.#sumsOf(wallet, flow.asset)
    flows[flow.name] += flow.value
    const [sum, value] = [values[flow.name], this.#valueOf(flow, time)]
    values[flow.name] = sum === null || value === null ? null : sum + value
  }

  /** The sums of a wallet's asset; undefined if it has no rows. */
  get(wallet: string, asset: BalanceAsset): AssetSums | undefined {
    return this.#sums.get(assetBalanceKey(wallet, asset))
  }

  #sumsOf(wallet: string, asset: BalanceAsset): AssetSums {
    const key = assetBalanceKey(wallet, asset)
    let sums = this.#sums.get(key)
    if (sums === undefined) {
      sums = { opening: 0n, flows: zeroFlows(), entries: [], values: zeroFlows() }
      this.#sums.set(key, sums)
    }
    return sums
  }
}

const zeroFlows = (): Record<FlowName, bigint> => ({
  received: 0n,
  sent: 0n,
  swapped_in: 0n,
  swapped_out: 0n,
  wrapped_in: 0n,
  wrapped_out: 0n,
  fees: 0n,
})
