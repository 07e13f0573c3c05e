import { isNft } from '../../core/model/asset.ts'
import type { Balance } from '../../ledger/balances/balances.ts'
import { formatCount, groupDigits, type Html, html } from '../html.ts'
import { aggregateKey } from '../ledger-aggregates.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { sumAssets } from '../sum-assets.ts'
import { amountCell, type Cell, countCell, MAX_TABLE_ROWS, moreSummary, tableHtml } from '../tables.ts'
import { assetHtml } from '../view.ts'

/** Token ids of a collection that are shown at once, and in all. */
const MAX_IDS = 30
const MAX_ALL_IDS = 500

/** NFTs by collection: ids minted, burned and held. There are no images, because the page must not load anything. */
export function nftsSection(stats: LedgerStats): Html {
  const { balances, nfts } = stats
  const collections = sumAssets(stats).filter(isNft)
  if (collections.length === 0) return html``
  const held = heldByCollection(balances.balances)
  const rows = collections.slice(0, MAX_TABLE_ROWS).map((asset): Cell[] => {
    const key = aggregateKey(asset.type, asset.address)
    const ids = [...(held.get(key) ?? [])].sort(([a], [b]) => (BigInt(a) < BigInt(b) ? -1 : 1))
    const { minted = 0, burned = 0 } = nfts.collections.get(key) ?? {}
    return [
      { html: assetHtml(stats, asset), sort: asset.symbol ?? '' },
      countCell(asset.movements),
      countCell(minted),
      countCell(burned),
      countCell(ids.length),
      { html: chips(ids), sort: ids.length, isLong: true },
    ]
  })
  const headers = ['collection', 'movements', 'ids minted', 'ids burned', 'ids held', 'held now']
  const options = { noun: 'collection', count: collections.length }
  return html`<section id="nfts"><h2>NFTs</h2>
<p class="note">Each token id is counted once, regardless of how many units of an ERC-1155 id moved and which wallets hold them.</p>
${tableHtml('Collections', { headers, rows }, options)}
${unitsTable(stats, held)}
</section>`
}

/** Units by collection (`aggregateKey`) and token id. */
type HeldUnits = ReadonlyMap<string, ReadonlyMap<string, bigint>>

/** Units of each token id that all wallets hold together. */
function heldByCollection(balances: readonly Balance[]): HeldUnits {
  const held = new Map<string, Map<string, bigint>>()
  for (const one of balances) {
    if (one.token_id === null || one.value <= 0n) continue
    const key = aggregateKey(one.asset_type, one.asset_address)
    const ids = held.get(key) ?? new Map<string, bigint>()
    held.set(key, ids.set(one.token_id, (ids.get(one.token_id) ?? 0n) + one.value))
  }
  return held
}

function chips(ids: readonly (readonly [id: string, units: bigint])[]): Html {
  const all = ids.slice(0, MAX_ALL_IDS).map(([id, value]) => {
    const short = id.length > 12 ? `${id.slice(0, 5)}…${id.slice(-4)}` : id
    return html`<span class="chip" title="${id}">#${short}${value > 1n ? ` × ${groupDigits(String(value))}` : ''}</span> `
  })
  const more = all.slice(MAX_IDS)
  if (more.length === 0) return html`${all}`
  const omitted = ids.length - all.length
  return html`${all.slice(0, MAX_IDS)}<details>${moreSummary({ shown: MAX_IDS, count: ids.length, more: more.length, noun: 'id' })}${more}${omitted === 0 ? '' : html`<small>and ${formatCount(omitted, 'id')} that only the export lists</small>`}</details>`
}

/** The units of each ERC-1155 id. Each id is a token of its own, so units of different ids are not added. */
function unitsTable(stats: LedgerStats, held: HeldUnits): Html {
  const { ids, idCount } = stats.nfts
  if (ids.length === 0) return html``
  const places = new Map(sumAssets(stats).map(({ type, address }, at) => [aggregateKey(type, address), at]))
  const placeOf = ({ address }: (typeof ids)[number]) => places.get(aggregateKey('erc1155', address)) ?? 0
  const sorted = [...ids].sort((a, b) => placeOf(a) - placeOf(b) || (BigInt(a.id) < BigInt(b.id) ? -1 : 1))
  const rows = sorted.map(({ address, id, ...units }): Cell[] => {
    const key = aggregateKey('erc1155', address)
    const symbol = stats.aggregates.assets.get(key)?.symbol ?? null
    const amounts = [units.minted, units.received, units.sent, units.burned, held.get(key)?.get(id) ?? 0n]
    return [
      { html: assetHtml(stats, { address, symbol }), sort: symbol ?? '' },
      { html: html`<span class="id">#${id}</span>`, sort: id, isLong: true },
      ...amounts.map((amount) => amountCell(amount, 0)),
    ]
  })
  const headers = ['collection', 'token id', 'minted', 'received', 'sent', 'burned', 'held now']
  return tableHtml('Units of ERC-1155 ids', { headers, rows }, { noun: 'id', count: idCount })
}
