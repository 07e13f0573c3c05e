import type { Balance } from '../../balances/balances.ts'
import { isNft } from '../../core/asset.ts'
import type { Figures } from '../figures.ts'
import { countCell, counted, type Html, html, tableHtml } from '../html.ts'
import { byMovements, tallyKey } from '../tally.ts'
import { assetHtml } from '../view.ts'

/** Ids of one collection that a page shows. */
const MOST_IDS = 30

/** NFTs by collection: what came, what went, what is held. No pictures: nothing may be loaded. */
export function nftsSection(figures: Figures): Html {
  const { tally, balances } = figures
  const collections = [...tally.assets.values()].filter(isNft).sort(byMovements)
  if (collections.length === 0) return html``
  const held = heldByCollection(balances.balances)
  const rows = collections.slice(0, 200).map((asset) => {
    const ids = held.get(tallyKey(asset.type, asset.address)) ?? []
    return [
      { html: assetHtml(figures, asset), sort: asset.symbol ?? '' },
      ...[
        countCell(asset.movements),
        countCell(asset.minted),
        countCell(asset.burned),
        countCell(ids.length),
      ],
      { html: chips(ids), sort: ids.length },
    ]
  })
  return html`<section id="nfts"><h2>NFTs</h2>
${tableHtml('Collections', ['collection', 'movements', 'minted', 'burned', 'ids held', 'held now'], rows)}
</section>`
}

function heldByCollection(balances: readonly Balance[]): Map<string, Balance[]> {
  const held = new Map<string, Balance[]>()
  for (const one of balances) {
    if (one.token_id === null || one.value <= 0n) continue
    const key = tallyKey(one.asset_type, one.asset_address)
    const ids = held.get(key)
    if (ids === undefined) held.set(key, [one])
    else ids.push(one)
  }
  return held
}

function chips(ids: readonly Balance[]): Html {
  const shown = ids.slice(0, MOST_IDS).map(({ token_id, value }) => {
    const id = token_id ?? ''
    const short = id.length > 12 ? `${id.slice(0, 5)}…${id.slice(-4)}` : id
    return html`<span class="chip" title="${id}">#${short}${value > 1n ? ` × ${value}` : ''}</span> `
  })
  return html`${shown}${ids.length > MOST_IDS ? html`<small>and ${counted(ids.length - MOST_IDS, 'id')} more</small>` : ''}`
}
