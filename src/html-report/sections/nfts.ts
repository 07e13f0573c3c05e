import { isNft } from '../../core/model/asset.ts'
import type { Balance } from '../../ledger/balances/balances.ts'
import { countCell, formatCount, type Html, html, tableHtml } from '../html.ts'
import { aggregateKey, byMovements } from '../ledger-aggregates.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { assetHtml } from '../view.ts'

/** Token ids listed per collection. */
const MAX_IDS = 30

/** NFTs by collection: ids minted, burned and held. There are no images, because the page must not load anything. */
export function nftsSection(stats: LedgerStats): Html {
  const { aggregates, balances, nftIds } = stats
  const collections = [...aggregates.assets.values()].filter(isNft).sort(byMovements)
  if (collections.length === 0) return html``
  const held = heldByCollection(balances.balances)
  const rows = collections.slice(0, 200).map((asset) => {
    const key = aggregateKey(asset.type, asset.address)
    const ids = [...(held.get(key) ?? [])]
    const { minted = 0, burned = 0 } = nftIds.get(key) ?? {}
    return [
      { html: assetHtml(stats, asset), sort: asset.symbol ?? '' },
      ...[countCell(asset.movements), countCell(minted), countCell(burned), countCell(ids.length)],
      { html: chips(ids), sort: ids.length },
    ]
  })
  return html`<section id="nfts"><h2>NFTs</h2>
<p class="note">Each token id is counted once, regardless of how many units of an ERC-1155 id moved and which wallets hold them.</p>
${tableHtml('Collections', ['collection', 'movements', 'ids minted', 'ids burned', 'ids held', 'held now'], rows)}
</section>`
}

/** Units of each token id that all wallets hold together, by collection. */
function heldByCollection(balances: readonly Balance[]): Map<string, Map<string, bigint>> {
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
  const shown = ids.slice(0, MAX_IDS).map(([id, value]) => {
    const short = id.length > 12 ? `${id.slice(0, 5)}…${id.slice(-4)}` : id
    return html`<span class="chip" title="${id}">#${short}${value > 1n ? ` × ${value}` : ''}</span> `
  })
  return html`${shown}${ids.length > MAX_IDS ? html`<small>and ${formatCount(ids.length - MAX_IDS, 'id')} more</small>` : ''}`
}
