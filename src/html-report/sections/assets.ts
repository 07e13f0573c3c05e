import { isNft } from '../../core/model/asset.ts'
import { sumKnownValues } from '../fiat-values.ts'
import { formatCount, type Html, html } from '../html.ts'
import { type AssetAggregates, aggregateKey } from '../ledger-aggregates.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { type AssetSums, sumAssets } from '../sum-assets.ts'
import {
  amountCell,
  type Cell,
  countCell,
  EMPTY_CELL,
  fiatValueCell,
  longTextCell,
  MAX_TABLE_ROWS,
  TOTAL_WITHOUT_SUSPICIOUS,
  tableHtml,
  textCell,
} from '../tables.ts'
import { assetHtml, walletText } from '../view.ts'
import { fiatValueColumns } from './fiat-value.ts'

/** Assets by number of movements. Suspicious tokens come last, in a collapsed table. */
export function assetsSection(stats: LedgerStats): Html {
  const flags = new Map(
    stats.balances.flagged.map((one) => [one.asset_address, one.flags.map(({ why }) => why)]),
  )
  const all = sumAssets(stats)
  const isSuspicious = ({ address }: AssetSums) => stats.suspicious.has(address ?? '')
  const fiatValues = fiatValueColumns(stats, { 'closing value': ({ assets }) => assets })
  const amounts = amountColumns(all)
  const headers = ['asset', 'kind', 'movements', ...Object.keys(amounts), ...fiatValues.headers, 'remarks']
  const row = (asset: AssetSums): Cell[] => [
    { html: assetHtml(stats, asset), sort: asset.symbol ?? '' },
    textCell(kindOf(asset)),
    countCell(asset.movements),
    ...Object.values(amounts).map((amount) => amountCell(asset[amount], unitOf(asset))),
    ...fiatValues.cellsOf(aggregateKey(asset.type, asset.address)),
    longTextCell(
      [...(flags.get(asset.address ?? '') ?? []), ...negativeBalanceNotes(stats, asset)].join('; '),
    ),
  ]
  const plain = all.filter((one) => !isSuspicious(one))
  const hasSuspicious = stats.suspicious.size > 0
  const table = (caption: string, assets: readonly AssetSums[]) =>
    tableHtml(
      caption,
      { headers, rows: assets.slice(0, MAX_TABLE_ROWS).map(row) },
      {
        noun: 'asset',
        count: assets.length,
        totals: totalsOf(stats, { assets, amounts }),
        totalName: assets === plain && hasSuspicious ? TOTAL_WITHOUT_SUSPICIOUS : undefined,
      },
    )
  return html`<section id="assets"><h2>Assets</h2>
${table('Movements by asset', plain)}
${hasSuspicious ? html`<details><summary>${formatCount(stats.suspicious.size, 'suspicious token')}</summary><div id="suspicious">${table('Suspicious tokens', all.filter(isSuspicious))}</div></details>` : ''}
</section>`
}

type AmountColumns = Readonly<Record<string, 'opening' | 'in' | 'out' | 'closing'>>

/** The columns of amounts by their headers. Without opening balances, what is held is the net amount that moved. */
const amountColumns = (assets: readonly AssetSums[]): AmountColumns =>
  assets.some(({ opening }) => opening !== 0n)
    ? { opening: 'opening', in: 'in', out: 'out', closing: 'closing' }
    : { in: 'in', out: 'out', net: 'closing' }

/** Amounts of different assets cannot be added; their movements and values can. */
function totalsOf(
  { fiatValues }: LedgerStats,
  { assets, amounts }: { assets: readonly AssetSums[]; amounts: AmountColumns },
): Cell[] {
  const values = assets.map(({ type, address }) => fiatValues?.assets.get(aggregateKey(type, address)))
  return [
    EMPTY_CELL,
    countCell(assets.reduce((sum, { movements }) => sum + movements, 0)),
    ...Object.keys(amounts).map(() => EMPTY_CELL),
    ...(fiatValues === undefined ? [] : [fiatValueCell(sumKnownValues(values))]),
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
