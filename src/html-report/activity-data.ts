import { deflateRawSync } from 'node:zlib'
import type { Asset, Movement } from '../accounting/movement.ts'
import { shiftDecimal } from '../core/platform/decimal.ts'
import { FIAT_DECIMALS } from '../ledger/prices/prices.ts'
import type { Amount, WalletEvent } from './events.ts'
import { exactAmount } from './numbers.ts'
import type { ActivityData, PackedAmounts, PackedEntry, PackedEvent, PackedRow } from './page-data.ts'

/** A list of distinct texts or lists of texts, to which entries refer by their index. Keys belong to a chain. */
class Dictionary<T> {
  readonly list: T[] = []
  readonly #chains = new Map<string, Map<string | null, number>>()

  /** The index of a key, or undefined. Making one key of the chain and the key would take three times as long. */
  find(chain: string, key: string | null): number | undefined {
    return this.#chains.get(chain)?.get(key)
  }

  add(chain: string, key: string | null, item: T): number {
    const index = this.list.push(item) - 1
    const ofChain = this.#chains.get(chain)
    if (ofChain === undefined) this.#chains.set(chain, new Map([[key, index]]))
    else ofChain.set(key, index)
    return index
  }
}

/** What happened in a transaction, with its value in units of 10^-8. */
export type DescribedEvent = { event: WalletEvent; value: bigint | undefined }

/** Collects the newest transactions, with at most `maxRows` of `total` rows, in the encoding that the page's script reads. */
export class ActivityPacker {
  readonly #parties = new Dictionary<[chain: string, address: string]>()
  readonly #assets = new Dictionary<[symbol: string, contract: string, chain: number]>()
  readonly #chains: string[] = []
  /** As JSON: the lists of 100,000 rows take 65 MB more. */
  readonly #entries: string[] = []
  #seen = 0
  included = 0
  readonly total: number
  readonly #skipped: number

  constructor(total: number, maxRows: number) {
    this.total = total
    this.#skipped = total - maxRows
  }

  /** Adds the next transaction, which is described only if it is one of the newest. */
  add(movements: readonly [Movement, ...Movement[]], describe: () => readonly DescribedEvent[]): void {
    const [{ chain, time, transaction, source }] = movements
    const isOpening = source === 'opening'
    const isLeftOut = this.#skipped > (isOpening ? 0 : this.#seen)
    if (!isOpening) this.#seen += movements.length
    if (isLeftOut) return
    if (!isOpening) this.included += movements.length
    const chainIndex = this.#chainIndex(chain)
    const events = describe().map((described) => this.#packEvent(described, chain))
    const rows = movements.map((movement) => this.#packRow(movement, chain))
    const entry: PackedEntry = [Date.parse(time) / 1000, chainIndex, transaction, events, rows]
    this.#entries.push(JSON.stringify(entry))
  }

  /** The data as JSON, compressed with raw deflate and base64-encoded. `nameOf` returns '' for addresses without a name. */
  pack(describe: {
    nameOf: (chain: string, address: string) => string
    chainOf: (chain: string) => ActivityData['chains'][number]
    currency: string
  }): string {
    const data: Omit<ActivityData, 'entries'> = {
      chains: this.#chains.map(describe.chainOf),
      parties: this.#parties.list.map(([chain, address]) => [address, describe.nameOf(chain, address)]),
      assets: this.#assets.list,
      currency: describe.currency,
    }
    const json = `${JSON.stringify(data).slice(0, -1)},"entries":[${this.#entries.join(',')}]}`
    return deflateRawSync(json).toString('base64')
  }

  #packEvent({ event, value }: DescribedEvent, chain: string): PackedEvent {
    const { kind, wallet, party, fee, method } = event
    return [
      kind,
      this.#partyIndex(chain, wallet),
      party === null ? -1 : this.#partyIndex(chain, party),
      this.#packAmounts(event.in, chain),
      this.#packAmounts(event.out, chain),
      fee === undefined ? [] : this.#packAmounts([fee], chain),
      method ?? '',
      value === undefined ? '' : (shiftDecimal(String(value), FIAT_DECIMALS) ?? ''),
    ]
  }

  #packAmounts(amounts: readonly Amount[], chain: string): PackedAmounts {
    const packed: PackedAmounts = []
    for (const { asset, value } of amounts)
      packed.push(this.#assetIndex(asset, chain), exactAmount(value, asset.decimals))
    return packed
  }

  #packRow({ wallet, type, isOut, value, asset, counterparty }: Movement, chain: string): PackedRow {
    const amount = exactAmount(value, asset.decimals)
    return [
      this.#partyIndex(chain, wallet),
      type,
      isOut ? `-${amount}` : amount,
      this.#assetIndex(asset, chain),
      counterparty === null ? -1 : this.#partyIndex(chain, counterparty),
    ]
  }

  #chainIndex(chain: string): number {
    const index = this.#chains.indexOf(chain)
    return index < 0 ? this.#chains.push(chain) - 1 : index
  }

  #partyIndex(chain: string, address: string): number {
    return this.#parties.find(chain, address) ?? this.#parties.add(chain, address, [chain, address])
  }

  #assetIndex({ address, tokenId, symbol, ticker }: Asset, chain: string): number {
    const key = tokenId === null ? address : `${address} ${tokenId}`
    const index = this.#assets.find(chain, key)
    if (index !== undefined) return index
    const id = tokenId === null ? '' : ` #${tokenId}`
    return this.#assets.add(chain, key, [
      `${ticker ?? symbol ?? ''}${id}`,
      address ?? '',
      this.#chainIndex(chain),
    ])
  }
}
