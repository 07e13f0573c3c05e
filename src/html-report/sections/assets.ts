import { isNft } from '../../core/model/asset.ts'
import { amountCell, type Cell, countCell, counted, type Html, html, tableHtml, textCell } from '../html.ts'
import { type AssetTally, byMovements, tallyKey } from '../ledger-aggregates.ts'
import type { Figures } from '../ledger-stats.ts'
import { assetHtml, walletText } from '../view.ts'
import { worthColumns } from './fiat-value.ts'

/** Assets that a page lists of each sort, those that moved most. */
const MOST_ASSETS = 200

/** What moved; what is suspicious last, folded. */
export function assetsSection(figures: Figures): Html {
  const { tally, balances } = figures
  const flags = new Map(balances.flagged.map((one) => [one.asset_address, one.flags.map(({ why }) => why)]))
  const all = [...tally.assets.values()].sort(byMovements)
  const isFlagged = ({ address }: AssetTally) => flags.has(address ?? '')
  const worth = worthColumns(figures, { 'worth at the end': ({ assets }) => assets })
  const heads = ['asset', 'kind', 'movements', 'in', 'out', 'net', ...worth.heads, 'remarks']
  const row = (asset: AssetTally): Cell[] => [
    { html: assetHtml(figures, asset), sort: asset.symbol ?? '' },
    textCell(kindOf(asset)),
    countCell(asset.movements),
    ...(['in', 'out'] as const).map((way) => amountCell(asset[way], unitOf(asset))),
    amountCell(asset.in - asset.out, unitOf(asset)),
    ...worth.cellsOf(tallyKey(asset.type, asset.address)),
    textCell([...(flags.get(asset.address ?? '') ?? []), ...belowOf(figures, asset)].join('; ')),
  ]
  const [good, bad] = [all.filter((one) => !isFlagged(one)), all.filter(isFlagged)]
  return html`<section id="assets"><h2>Assets</h2>
${tableHtml('What moved', heads, good.slice(0, MOST_ASSETS).map(row))}
${more(good.length)}
${bad.length === 0 ? '' : html`<details><summary>${counted(bad.length, 'token')} that ${bad.length === 1 ? 'is' : 'are'} probably not what ${bad.length === 1 ? 'it looks' : 'they look'} like</summary>${tableHtml('Suspicious tokens', heads, bad.slice(0, MOST_ASSETS).map(row))}${more(bad.length)}</details>`}
</section>`
}

const more = (count: number): Html =>
  count > MOST_ASSETS
    ? html`<p class="note">And ${counted(count - MOST_ASSETS, 'asset')} more, which moved less.</p>`
    : html``

function kindOf({ type }: AssetTally): string {
  return { native: 'coin', erc20: 'ERC-20', erc721: 'NFT, ERC-721', erc1155: 'NFT, ERC-1155' }[type] ?? type
}

/** NFTs count whole. */
const unitOf = (asset: AssetTally): number | null => (isNft(asset) ? 0 : asset.decimals)

function belowOf(figures: Figures, asset: AssetTally): string[] {
  const key = tallyKey(asset.type, asset.address)
  const below = figures.balances.belowZero.filter(
    ({ asset_type, asset_address }) => tallyKey(asset_type, asset_address) === key,
  )
  const [first] = below
  if (first === undefined) return []
  const who = walletText(figures, first.wallet_address)
  return [
    `below zero in ${below.length === 1 ? who : `${who} and ${below.length - 1} more`}: ${first.causes[0]}`,
  ]
}
