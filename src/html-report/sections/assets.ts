import { isNft } from '../../core/model/asset.ts'
import {
  amountCell,
  type Cell,
  countCell,
  formatCount,
  type Html,
  html,
  tableHtml,
  textCell,
} from '../html.ts'
import { type AssetAggregates, aggregateKey, byMovements } from '../ledger-aggregates.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { assetHtml, walletText } from '../view.ts'
import { fiatValueColumns } from './fiat-value.ts'

/** Assets listed per table: those with the most movements. */
const MAX_ASSETS = 200

/** Assets by number of movements. Suspicious tokens come last, in a collapsed table. */
export function assetsSection(stats: LedgerStats): Html {
  const { aggregates, balances } = stats
  const flags = new Map(balances.flagged.map((one) => [one.asset_address, one.flags.map(({ why }) => why)]))
  const all = [...aggregates.assets.values()].sort(byMovements)
  const isFlagged = ({ address }: AssetAggregates) => flags.has(address ?? '')
  const fiatValues = fiatValueColumns(stats, { 'closing value': ({ assets }) => assets })
  const headers = ['asset', 'kind', 'movements', 'in', 'out', 'net', ...fiatValues.headers, 'remarks']
  const row = (asset: AssetAggregates): Cell[] => [
    { html: assetHtml(stats, asset), sort: asset.symbol ?? '' },
    textCell(kindOf(asset)),
    countCell(asset.movements),
    ...(['in', 'out'] as const).map((direction) => amountCell(asset[direction], unitOf(asset))),
    amountCell(asset.in - asset.out, unitOf(asset)),
    ...fiatValues.cellsOf(aggregateKey(asset.type, asset.address)),
    textCell([...(flags.get(asset.address ?? '') ?? []), ...negativeBalanceNotes(stats, asset)].join('; ')),
  ]
  const [plain, flagged] = [all.filter((one) => !isFlagged(one)), all.filter(isFlagged)]
  return html`<section id="assets"><h2>Assets</h2>
${tableHtml('Movements by asset', headers, plain.slice(0, MAX_ASSETS).map(row))}
${moreNote(plain.length)}
${flagged.length === 0 ? '' : html`<details><summary>${formatCount(flagged.length, 'suspicious token')}</summary>${tableHtml('Suspicious tokens', headers, flagged.slice(0, MAX_ASSETS).map(row))}${moreNote(flagged.length)}</details>`}
</section>`
}

const moreNote = (count: number): Html =>
  count > MAX_ASSETS
    ? html`<p class="note">Not listed: ${formatCount(count - MAX_ASSETS, 'asset')} with fewer movements.</p>`
    : html``

function kindOf({ type }: AssetAggregates): string {
  return { native: 'coin', erc20: 'ERC-20', erc721: 'NFT, ERC-721', erc1155: 'NFT, ERC-1155' }[type] ?? type
}

/** NFTs have no decimals. */
const unitOf = (asset: AssetAggregates): number | null => (isNft(asset) ? 0 : asset.decimals)

function negativeBalanceNotes(stats: LedgerStats, asset: AssetAggregates): string[] {
  const key = aggregateKey(asset.type, asset.address)
  const negative = stats.balances.belowZero.filter(
    ({ asset_type, asset_address }) => aggregateKey(asset_type, asset_address) === key,
  )
  const [first] = negative
  if (first === undefined) return []
  const wallet = walletText(stats, first.wallet_address)
  return [
    `negative in ${negative.length === 1 ? wallet : `${wallet} and ${negative.length - 1} more`}: ${first.causes[0]}`,
  ]
}
