import { isNft } from '../../core/model/asset.ts'
import { formatCount, type Html, html } from '../html.ts'
import { type AssetAggregates, aggregateKey, byMovements } from '../ledger-aggregates.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import {
  amountCell,
  type Cell,
  countCell,
  EMPTY_CELL,
  fiatValueCell,
  longTextCell,
  MAX_TABLE_ROWS,
  tableHtml,
  textCell,
} from '../tables.ts'
import { assetHtml, walletText } from '../view.ts'
import { fiatValueColumns } from './fiat-value.ts'

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
    longTextCell(
      [...(flags.get(asset.address ?? '') ?? []), ...negativeBalanceNotes(stats, asset)].join('; '),
    ),
  ]
  const [plain, flagged] = [all.filter((one) => !isFlagged(one)), all.filter(isFlagged)]
  const table = (caption: string, assets: readonly AssetAggregates[]) =>
    tableHtml(
      caption,
      { headers, rows: assets.slice(0, MAX_TABLE_ROWS).map(row) },
      { noun: 'asset', count: assets.length, totals: totalsOf(stats, assets) },
    )
  return html`<section id="assets"><h2>Assets</h2>
${table('Movements by asset', plain)}
${flagged.length === 0 ? '' : html`<details><summary>${formatCount(flagged.length, 'suspicious token')}</summary>${table('Suspicious tokens', flagged)}</details>`}
</section>`
}

/** Amounts of different assets cannot be added; their movements and values can. */
function totalsOf({ fiatValues }: LedgerStats, assets: readonly AssetAggregates[]): Cell[] {
  const value = assets.reduce(
    (sum, { type, address }) => sum + (fiatValues?.assets.get(aggregateKey(type, address)) ?? 0n),
    0n,
  )
  return [
    ...[EMPTY_CELL, countCell(assets.reduce((sum, { movements }) => sum + movements, 0))],
    ...[EMPTY_CELL, EMPTY_CELL, EMPTY_CELL, ...(fiatValues === undefined ? [] : [fiatValueCell(value)])],
    EMPTY_CELL,
  ]
}

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
