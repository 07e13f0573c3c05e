import { deflateRawSync } from 'node:zlib'
import type { Movement } from '../accounting/movement.ts'
import { shiftDecimal } from '../core/platform/decimal.ts'
import { FIAT_DECIMALS } from '../ledger/prices/prices.ts'
import type { Amount, WalletEvent } from './events.ts'
import { exactAmount } from './numbers.ts'
import type { ActivityData, PackedEntry, PackedEvent } from './page-data.ts'

/** A list of distinct texts or lists of texts, to which entries refer by their index. */
class Dictionary<T> {
  readonly list: T[] = []
  readonly #indexes = new Map<string, number>()

  indexOf(key: string, make: () => T): number {
    const existing = this.#indexes.get(key)
    if (existing !== undefined) return existing
    const index = this.list.push(make()) - 1
    this.#indexes.set(key, index)
    return index
  }
}

/** A transaction: its movements, and what happened in it. `values` are those of its events in units of 10^-8. */
export type DescribedTransaction = {
  movements: readonly [Movement, ...Movement[]]
  events: readonly { event: WalletEvent; value: bigint | undefined }[]
}

/** Collects the newest transactions, with at most `maxRows` of `total` rows, in the encoding that the page's script reads. */
export class ActivityPacker {
  readonly #parties = new Dictionary<[chain: string, address: string]>()
  readonly #assets = new Dictionary<[symbol: string, contract: string, chain: number]>()
  readonly #chains = new Dictionary<string>()
  readonly #entries: PackedEntry[] = []
  #seen = 0
  included = 0
  readonly total: number
  readonly #skipped: number

  constructor(total: number, maxRows: number) {
    this.total = total
    this.#skipped = total - maxRows
  }

  add({ movements, events }: DescribedTransaction): void {
    const [{ chain, time, transaction, source }] = movements
    const isOpening = source === 'opening'
    const isLeftOut = this.#skipped > (isOpening ? 0 : this.#seen)
    if (!isOpening) this.#seen += movements.length
    if (isLeftOut) return
    if (!isOpening) this.included += movements.length
    this.#entries.push([
      Date.parse(time) / 1000,
      this.#chains.indexOf(chain, () => chain),
      transaction,
      events.map((described) => this.#packEvent(described, chain)),
      movements.map((one) => [
        this.#partyIndex(chain, one.wallet),
        one.type,
        `${one.isOut ? '-' : ''}${exactAmount(one.value, one.asset.decimals)}`,
        this.#assetIndex(one),
        one.counterparty === null ? -1 : this.#partyIndex(chain, one.counterparty),
      ]),
    ])
  }

  /** The data as JSON, compressed with raw deflate and base64-encoded. `nameOf` returns '' for addresses without a name. */
  pack(describe: {
    nameOf: (chain: string, address: string) => string
    chainOf: (chain: string) => ActivityData['chains'][number]
    currency: string
  }): string {
    const data: ActivityData = {
      chains: this.#chains.list.map(describe.chainOf),
      parties: this.#parties.list.map(([chain, address]) => [address, describe.nameOf(chain, address)]),
      assets: this.#assets.list,
      currency: describe.currency,
      entries: this.#entries,
    }
    return deflateRawSync(JSON.stringify(data)).toString('base64')
  }

  #packEvent({ event, value }: DescribedTransaction['events'][number], chain: string): PackedEvent {
    const amounts = (all: readonly Amount[]) =>
      all.flatMap((amount) => [
        this.#assetIndex({ asset: amount.asset, chain }),
        exactAmount(amount.value, amount.asset.decimals),
      ])
    const { kind, wallet, party, fee, method } = event
    return [
      kind,
      this.#partyIndex(chain, wallet),
      party === null ? -1 : this.#partyIndex(chain, party),
      amounts(event.in),
      amounts(event.out),
      fee === undefined ? [] : amounts([fee]),
      method ?? '',
      value === undefined ? '' : (shiftDecimal(String(value), FIAT_DECIMALS) ?? ''),
    ]
  }

  #partyIndex(chain: string, address: string): number {
    return this.#parties.indexOf(`${chain} ${address}`, () => [chain, address])
  }

  #assetIndex({ asset, chain }: Pick<Movement, 'asset' | 'chain'>): number {
    const { address, tokenId, symbol, ticker } = asset
    return this.#assets.indexOf(`${chain} ${address} ${tokenId}`, () => {
      const id = tokenId === null ? '' : ` #${tokenId}`
      const chainIndex = this.#chains.indexOf(chain, () => chain)
      return [`${ticker ?? symbol ?? ''}${id}`, address ?? '', chainIndex]
    })
  }
}
